/** The numbers of GGUF and what they stand for. @module */

/** How tensors of one type lie in a file: so many values in a block of so many bytes. */
export interface TensorType {
  readonly values: number;
  readonly bytes: number;
}

const plain = (bytes: number): TensorType => ({ values: 1, bytes });
const blocks = (values: number, bytes: number): TensorType => ({ values, bytes });

/** By the number in the file. What is missing here, this engine does not read. */
export const TENSOR_TYPES: ReadonlyMap<number, TensorType> = new Map([
  [0, plain(4)], // F32
  [1, plain(2)], // F16
  [2, blocks(32, 18)], // Q4_0
  [3, blocks(32, 20)], // Q4_1
  [6, blocks(32, 22)], // Q5_0
  [7, blocks(32, 24)], // Q5_1
  [8, blocks(32, 34)], // Q8_0
  [10, blocks(256, 84)], // Q2_K
  [11, blocks(256, 110)], // Q3_K
  [12, blocks(256, 144)], // Q4_K
  [13, blocks(256, 176)], // Q5_K
  [14, blocks(256, 210)], // Q6_K
  [16, blocks(256, 66)], // IQ2_XXS
  [17, blocks(256, 74)], // IQ2_XS
  [18, blocks(256, 98)], // IQ3_XXS
  [19, blocks(256, 50)], // IQ1_S
  [20, blocks(32, 18)], // IQ4_NL
  [21, blocks(256, 110)], // IQ3_S
  [22, blocks(256, 82)], // IQ2_S
  [23, blocks(256, 136)], // IQ4_XS
  [24, plain(1)], // I8
  [25, plain(2)], // I16
  [26, plain(4)], // I32
  [27, plain(8)], // I64
  [28, plain(8)], // F64
  [29, blocks(256, 56)], // IQ1_M
  [30, plain(2)], // BF16
  [34, blocks(256, 54)], // TQ1_0
  [35, blocks(256, 66)], // TQ2_0
  [39, blocks(32, 17)], // MXFP4
]);

/** `general.file_type` by its number: what most of the weights are. */
export const QUANTISATIONS: ReadonlyMap<number, string> = new Map([
  [0, "F32"],
  [1, "F16"],
  [2, "Q4_0"],
  [3, "Q4_1"],
  [7, "Q8_0"],
  [8, "Q5_0"],
  [9, "Q5_1"],
  [10, "Q2_K"],
  [11, "Q3_K_S"],
  [12, "Q3_K_M"],
  [13, "Q3_K_L"],
  [14, "Q4_K_S"],
  [15, "Q4_K_M"],
  [16, "Q5_K_S"],
  [17, "Q5_K_M"],
  [18, "Q6_K"],
  [19, "IQ2_XXS"],
  [20, "IQ2_XS"],
  [21, "Q2_K_S"],
  [22, "IQ3_XS"],
  [23, "IQ3_XXS"],
  [24, "IQ1_S"],
  [25, "IQ4_NL"],
  [26, "IQ3_S"],
  [27, "IQ3_M"],
  [28, "IQ2_S"],
  [29, "IQ2_M"],
  [30, "IQ4_XS"],
  [31, "IQ1_M"],
  [32, "BF16"],
  [36, "TQ1_0"],
  [37, "TQ2_0"],
  [38, "MXFP4"],
]);

/** Bytes of the fixed-size metadata types, by number; 8 is a string, 9 an array. */
export const SCALAR_BYTES: ReadonlyMap<number, number> = new Map([
  [0, 1],
  [1, 1],
  [2, 2],
  [3, 2],
  [4, 4],
  [5, 4],
  [6, 4],
  [7, 1],
  [10, 8],
  [11, 8],
  [12, 8],
]);
/** Number of the type string. */
export const TYPE_TEXT = 8;
/** Number of the type array. */
export const TYPE_ARRAY = 9;
