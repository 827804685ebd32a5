/** Pairs of claims, sorted by hand: contradictions, and pairs that only look like contradictions. */

/** Two claims. */
export interface Pair {
  readonly a: string;
  readonly b: string;
}

const pair = (a: string, b: string): Pair => ({ a, b });

/** Pairs that cannot both be right. */
export const CONTRADICTIONS: readonly Pair[] = [
  // Numbers with units.
  pair("A lease lasts 30 seconds.", "A lease lasts 60 seconds."),
  pair("A lease lasts 30 seconds.", "Leases last one minute."),
  pair("The lease timeout is 30 s.", "The timeout of a lease is 45 s."),
  pair("The kernel starts at most two workers.", "The kernel starts at most four workers."),
  pair("Remit needs 512 MB of memory.", "Remit requires 2 GB of memory."),
  pair("Mount Everest is 8,848 m high.", "Mount Everest is 8,611 metres high."),
  pair("A Chromium page may use 200 MB.", "A Chromium page may use 300 MB."),
  pair("Water boils at 100 °C at sea level.", "Water boils at 90 °C at sea level."),
  pair("The VAT rate in Germany is 19 %.", "The VAT rate in Germany is 16%."),
  pair("A SHA-256 digest has 64 hex characters.", "A SHA-256 digest has 32 hex characters."),
  pair("The gate has ten steps.", "The gate has twelve steps."),
  pair("Each page may hold up to 64 aliases.", "Each page may hold up to 32 aliases."),
  pair("Deno 2.9 starts in 12 ms.", "Deno 2.9 starts in 40 ms."),
  pair("A ticket to Berlin costs $50.", "A ticket to Berlin costs $80."),
  pair("Frames of the port are limited to 1 MiB.", "Frames of the port are limited to 64 MiB."),
  pair("The default port of PostgreSQL is 5432.", "The default port of PostgreSQL is 5433."),
  pair("Backups of Remit are kept for 30 days.", "Backups of Remit are kept for 90 days."),
  pair("Passwords must have at least 12 characters.", "Passwords must have at least 8 characters."),
  pair("A worker uses between 9 and 10 MB.", "A worker uses between 20 and 25 MB."),
  pair("Its default timeout is 30 s.", "Its default timeout is 10 s."),
  pair("租约持续30秒。", "租约持续60秒。"),
  pair("Die Frist der Kündigung beträgt 30 Tage.", "Die Frist der Kündigung beträgt 14 Tage."),
  pair("Remit keeps logs for 3 months.", "Remit keeps logs for 2 years."),
  pair("The Nile is 6,650 km long.", "The Nile is about 4,000 km long."),
  // Dates.
  pair("Remit 1.0 was released on 2026-03-01.", "Remit 1.0 was released on 2026-04-15."),
  pair("The company was founded in 1998 by Alice.", "The company was founded in 2001 by Alice."),
  pair("Ada Lovelace was born on 10 December 1815.", "Ada Lovelace was born on December 12, 1815."),
  pair("SQLite 3.0 was published in June 2004.", "SQLite 3.0 was published in 2006."),
  pair(
    "The deadline of project Falcon is 5 May 2026.",
    "The deadline of project Falcon is 9 May 2026.",
  ),
  pair("Support for Remit 1 ends on 2027-01-31.", "Support for Remit 1 ends on 2027-06-30."),
  pair("The weekly review starts at 10:30.", "The weekly review starts at 14:00."),
  // Negation.
  pair("A worker can open files.", "A worker cannot open files."),
  pair("Leases expire after a restart.", "Leases never expire after a restart."),
  pair("The kernel has network access.", "The kernel has no network access."),
  pair("Plugins are signed.", "Plugins are not signed."),
  pair("Remit supports Windows.", "Remit does not support Windows."),
  pair("The gateway is optional.", "The gateway is required."),
  pair("Telemetry is enabled by default.", "Telemetry is disabled by default."),
  pair("The page cache is encrypted.", "The page cache is not encrypted."),
  pair("Tokens are valid after a restart.", "Tokens are invalid after a restart."),
  pair("Remit no longer supports Python.", "Remit supports Python."),
  pair("Symlinks in a mount are allowed.", "Symlinks in a mount are forbidden."),
  // Hard pairs: rules are not enough for them.
  pair("A lease ends after half a minute.", "A lease lasts two minutes."),
  pair("Only the kernel may write the log.", "Every worker writes the log."),
  pair("Alice founded Acme in 1998.", "Acme was founded by Alice in 2001."),
  pair("The kernel never talks to the network.", "The kernel opens a socket to the internet."),
  pair("Remit is free software.", "Remit is sold under a commercial licence."),
  pair("The largest page has 40 KB.", "No page is larger than 20 KB."),
];

/** Pairs that may both be right. */
export const CONSISTENT: readonly Pair[] = [
  // The same in other words.
  pair("A lease lasts 60 seconds.", "A lease lasts one minute."),
  pair("A file may have 1,024 KB.", "A file may have 1 MB."),
  pair("Remit needs 0.5 GB of memory.", "Remit requires 512 MB of memory."),
  pair("Pi is 3.14159.", "Pi is 3.14."),
  pair("The Nile is 6,650 km long.", "The Nile is about 6,700 km long."),
  pair("Remit 1.0 was released on 2026-03-01.", "Remit 1.0 was released in March 2026."),
  pair("Remit 1.0 was released in 2026.", "Remit 1.0 was released on 1 March 2026."),
  pair("The gate has ten steps.", "The gate has 10 steps."),
  pair(
    "The deadline of project Falcon is 5 May 2026.",
    "The deadline of project Falcon is 2026-05-05.",
  ),
  pair("A worker cannot open files.", "A worker can't open files."),
  pair("Plugins are unsigned.", "Plugins are not signed."),
  pair("Telemetry is disabled by default.", "Telemetry is not enabled by default."),
  // Different subjects.
  pair("A read lease lasts 30 seconds.", "A write lease lasts 60 seconds."),
  pair("A lease lasts 30 seconds.", "A session lasts 60 seconds."),
  pair("The service listens on port 80.", "The service listens on port 443."),
  pair("Step 3 takes 5 seconds.", "Step 4 takes 9 seconds."),
  pair("Chapter 2 has 30 pages.", "Chapter 3 has 45 pages."),
  pair("Windows 10 supports 3 modes.", "Windows 11 supports 4 modes."),
  pair("Boeing 747 jets carry 400 people.", "Boeing 737 jets carry 180 people."),
  pair("Version 1 allows 5 users.", "Version 2 allows 10 users."),
  pair("SHA-256 digests have 32 bytes.", "SHA-512 digests have 64 bytes."),
  pair("Deno 2.9.6 starts in 12 ms.", "Deno 2.8.1 starts in 15 ms."),
  pair("Mount Everest is 8,848 m high.", "Mount K2 is 8,611 m high."),
  pair("A ticket costs $50.", "A ticket costs €45."),
  pair("Remit has 3 modes.", "Remit has 5 levels."),
  pair("Germany has 83 million people.", "France has 68 million people."),
  pair(
    "The migration from Oslo to Rome takes 5 days.",
    "The migration from Rome to Oslo takes 7 days.",
  ),
  // Different times.
  pair("In 2020, Acme had 50 employees.", "In 2024, Acme had 80 employees."),
  pair("The limit was 5 MB.", "The limit is 10 MB."),
  pair("Alice visited Paris in 2019.", "Alice visited Paris in 2021."),
  pair("The price was $5 in 2010.", "The price is $9."),
  pair("Acme has used SQLite since 2019.", "Acme has used SQLite until 2022."),
  pair("The report was updated on 2026-01-05.", "The report was updated on 2026-02-05."),
  pair("A review was held on 3 May 2025.", "A review was held on 7 June 2025."),
  // Compatible limits.
  pair("A page has at most 400 lines.", "A page has 120 lines."),
  pair("Passwords have at least 8 characters.", "Passwords have 12 characters."),
  pair("A worker uses between 9 and 12 MB.", "A worker uses 10 MB."),
  pair("A start takes up to 50 ms.", "A start takes 12 ms."),
  pair("Boots take more than 10 ms.", "Boots take less than 50 ms."),
  pair("A page has at most 64 aliases.", "A page has at least one alias."),
  pair("A commit takes about 0.14 ms.", "A commit takes 0.15 ms."),
  // Compatible negations.
  pair("Some plugins are signed.", "Some plugins are not signed."),
  pair("Most leases expire.", "Most leases do not expire early."),
  pair("A worker may open files.", "A worker may not need files."),
  pair("The cache is not always encrypted.", "The cache is encrypted."),
  pair("Remit is not only a runtime.", "Remit is a runtime."),
  pair("Workers can run without network.", "Workers can run with network."),
  pair("Alice does not trust Bob.", "Bob trusts Alice."),
  pair("A does not call B.", "B calls A."),
  pair("Pages are read before they are signed.", "Pages are not signed before they are read."),
  pair("Leases expire after 30 s unless renewed.", "Leases do not expire while renewed."),
  pair("Is telemetry enabled by default?", "Telemetry is not enabled by default."),
  pair("Does the lease last 30 s?", "The lease lasts 60 s."),
  pair("For example, a lease lasts 30 seconds.", "A lease lasts 60 seconds."),
  pair("Suppose that plugins are not signed.", "Plugins are signed."),
  pair("The lease expired.", "The lease does not expire."),
  pair("Public pages are encrypted.", "Secret pages are not encrypted."),
  pair("Reads are allowed at night.", "Writes are forbidden at night."),
  pair("The kernel writes to the log.", "The kernel never reads from the log."),
  pair("Alice is taller than Bob by 5 cm.", "Bob is taller than Carol by 9 cm."),
  pair("Two of the five tests failed.", "Three of the nine tests failed."),
  pair("One lease is enough.", "Any one may claim it."),
  pair("RFC 8785 has 20 pages.", "RFC 9110 has 190 pages."),
  pair("The 2nd run takes 5 s.", "The 3rd run takes 4 s."),
];
