// Finds the unchanged lines of two texts by Myers' greedy algorithm with bounded work: when two
// pieces differ in more lines than the bound, the furthest path is taken and the search restarts
// behind it.

/** Maximum differing lines in the search for the shortest path. */
const BOUND = 1_000;

/** Marks the lines removed from `old` and added in `fresh`, both as numbers of `Numbers`. */
export class Edits {
  readonly removed: StaticArray<bool>;
  readonly added: StaticArray<bool>;
  /** Furthest position in `old` on each diagonal, for each number of differences. */
  private rounds: Array<StaticArray<i32>> = [];

  constructor(private old: StaticArray<i32>, private fresh: StaticArray<i32>) {
    this.removed = new StaticArray<bool>(old.length);
    this.added = new StaticArray<bool>(fresh.length);
    let oldEnd = old.length;
    let freshEnd = fresh.length;
    let from = 0;
    while (from < oldEnd && from < freshEnd && old[from] == fresh[from]) from++;
    while (oldEnd > from && freshEnd > from && old[oldEnd - 1] == fresh[freshEnd - 1]) {
      oldEnd--;
      freshEnd--;
    }
    this.search(from, from, oldEnd, freshEnd);
  }

  private search(oldFrom: i32, freshFrom: i32, oldEnd: i32, freshEnd: i32): void {
    while (oldFrom < oldEnd && freshFrom < freshEnd) {
      const ended = this.walk(oldFrom, freshFrom, oldEnd, freshEnd);
      oldFrom = <i32> (ended >> 32);
      freshFrom = <i32> (ended & 0x7fffffff);
    }
    for (let i = oldFrom; i < oldEnd; i++) this.removed[i] = true;
    for (let i = freshFrom; i < freshEnd; i++) this.added[i] = true;
  }

  /** Searches up to the bound, marks the path, and returns its end: in `old` << 32 | in `fresh`. */
  private walk(oldFrom: i32, freshFrom: i32, oldEnd: i32, freshEnd: i32): i64 {
    const width = oldEnd - oldFrom;
    const height = freshEnd - freshFrom;
    const bound = min(BOUND, width + height);
    const furthest = new StaticArray<i32>(2 * bound + 3);
    const middle = bound + 1;
    this.rounds = [];
    let bestDiagonal = 0;
    let bestSum = -1;
    for (let round = 0; round <= bound; round++) {
      bestSum = -1;
      for (let k = -round; k <= round; k += 2) {
        const down = k == -round ||
          (k != round && unchecked(furthest[middle + k - 1]) < unchecked(furthest[middle + k + 1]));
        let x = down
          ? unchecked(furthest[middle + k + 1])
          : unchecked(furthest[middle + k - 1]) + 1;
        let y = x - k;
        while (
          x < width && y < height && x >= 0 && y >= 0 &&
          unchecked(this.old[oldFrom + x]) == unchecked(this.fresh[freshFrom + y])
        ) {
          x++;
          y++;
        }
        unchecked(furthest[middle + k] = x);
        // A path beyond the edge of a text is invalid; it is kept only so that its neighbours can
        // compare.
        if (x <= width && y <= height && x + y > bestSum) {
          bestSum = x + y;
          bestDiagonal = k;
        }
      }
      this.rounds.push(copyOf(furthest, middle - round, 2 * round + 1));
      if (bestSum == width + height) break;
    }
    return this.mark(oldFrom, freshFrom, bestDiagonal, width, height);
  }

  private mark(oldFrom: i32, freshFrom: i32, diagonal: i32, width: i32, height: i32): i64 {
    let round = this.rounds.length - 1;
    let x = this.rounds[round][diagonal + round];
    const ended: i64 = (<i64> (oldFrom + x) << 32) | <i64> (freshFrom + x - diagonal);
    for (; round > 0; round--) {
      const before = this.rounds[round - 1];
      // `before` begins at diagonal 1 - round.
      const zero = round - 1 + diagonal;
      const down = diagonal == -round || (diagonal != round && before[zero - 1] < before[zero + 1]);
      x = before[down ? zero + 1 : zero - 1];
      diagonal += down ? 1 : -1;
      const y = x - diagonal;
      if (down) this.added[freshFrom + y] = true;
      else this.removed[oldFrom + x] = true;
    }
    return ended;
  }
}

function copyOf(from: StaticArray<i32>, start: i32, length: i32): StaticArray<i32> {
  const copy = new StaticArray<i32>(length);
  memory.copy(
    changetype<usize>(copy),
    changetype<usize>(from) + (<usize> start << 2),
    <usize> length << 2,
  );
  return copy;
}
