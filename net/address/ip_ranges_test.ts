import { deepEqual, equal, notEqual } from "node:assert/strict";
import fc from "fast-check";
import { tryIp } from "./ip.ts";
import { kindOf, type Reach } from "./ip_ranges.ts";

const REACH: Readonly<Record<Reach, readonly string[]>> = {
  public: [
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700::1",
    "2001:4860:4860::8888",
    "2a00:1450:4001:81b::200e",
  ],
  private: [
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.255",
    "172.16.0.0",
    "172.31.255.255",
    "192.168.0.0",
    "192.168.255.255",
    "198.18.0.0",
    "198.19.255.255",
    "::1",
    "fc00::",
    "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
  ],
  literal: [
    "169.254.0.0",
    "169.254.169.254",
    "169.254.170.2",
    "169.254.255.255",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "192.0.2.1",
    "198.51.100.7",
    "203.0.113.255",
    "fd00:ec2::254",
    "fd20:ce::254",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:10.0.0.1",
    "::127.0.0.1",
    "::8.8.8.8",
    "64:ff9b::10.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::10.0.0.1",
    "2002:7f00:1::",
    "2001:db8::1",
    "3fff::1",
    "fe80::1",
    "febf::1",
    "fec0::1",
    "feff::1",
    "2a00:1450::5efe:10.0.0.1",
    "2a00:1450::200:5efe:10.0.0.1",
  ],
  never: [
    "0.0.0.0",
    "0.255.255.255",
    "192.0.0.8",
    "192.0.0.170",
    "192.31.196.1",
    "192.52.193.1",
    "192.88.99.1",
    "192.175.48.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "100::1",
    "100:0:0:1::1",
    "2001::1",
    "2001:0:4136:e378::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:1ff:ffff::",
    "2620:4f:8000::1",
    "3ffe::1",
    "5f00::1",
    "ff02::1",
    "ff0e::1",
    "1::1",
    "4000::1",
    "8000::1",
    "e000::1",
    "fe00::1",
    "200::1",
    "64:ff9a::1",
    "64:ff9b:2::1",
  ],
};

for (const [reach, addresses] of Object.entries(REACH)) {
  Deno.test(`addresses that are ${reach}, at the edges of their ranges, are known as such`, () => {
    for (const address of addresses) {
      const ip = tryIp(address);
      if (ip === undefined) throw new Error(`${address} does not read as an address`);
      equal(kindOf(ip).reach, reach, `${address}: ${kindOf(ip).what}`);
    }
  });
}

Deno.test("mallory's short, octal, hex and zoned spellings are no addresses at all", () => {
  const strange = [
    ...["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.01", "127.0.0.256", "127.0.0"],
    ...["1.2.3.4.5", "1..2.3", "", ".", "127.0.0.1.", " 127.0.0.1", "127.0.0.1 ", "１27.0.0.1"],
    ...[
      "fe80::1%eth0",
      "fe80::1%25eth0",
      "::1::",
      ":::",
      ":",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
    ],
    ...[
      "1:2:3:4:5:6:7::8",
      "12345::",
      "::g",
      "::1.2.3",
      "1.2.3.4::",
      "::1.2.3.4:5",
      "[::1",
      "[1.2.3.4]",
    ],
  ];
  deepEqual(strange.filter((each) => tryIp(each) !== undefined), []);
});

Deno.test("an IPv6 address reads the same however the standard parser would write it", () => {
  fc.assert(
    fc.property(fc.ipV6(), (text) => {
      const written = new URL(`http://[${text}]/`).hostname;
      deepEqual(tryIp(text)?.bytes, tryIp(written)?.bytes);
      equal(tryIp(text)?.bytes.length, 16);
    }),
  );
});

Deno.test("no IPv4 address that is not public becomes public in IPv6 clothes", () => {
  const clothes = (a: number, b: number, c: number, d: number): readonly string[] => {
    const hex = (high: number, low: number): string => ((high << 8) | low).toString(16);
    const [x, y] = [hex(a, b), hex(c, d)];
    return [
      `::ffff:${x}:${y}`,
      `::${x}:${y}`,
      `64:ff9b::${x}:${y}`,
      `64:ff9b:1::${x}:${y}`,
      `2002:${x}:${y}::`,
      `2001:0:${x}:${y}::`,
    ];
  };
  const byte = fc.nat(255);
  fc.assert(fc.property(byte, byte, byte, byte, (a, b, c, d) => {
    for (const text of clothes(a, b, c, d)) {
      const ip = tryIp(text);
      if (ip === undefined) throw new Error(`${text} does not read as an address`);
      notEqual(kindOf(ip).reach, "public", text);
    }
  }));
});
