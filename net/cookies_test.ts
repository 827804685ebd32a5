/** A request that carries a profile: its cookies go with it alone, what is set is told, and no redirect is followed. */
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { isFault, makeInService, named, textOf } from "./_fixture/parts.ts";
import { redirect, reply, startSite } from "./_fixture/site.ts";

Deno.test("a request with cookies tells what is set and where a redirect leads, and follows none", async () => {
  await using site = startSite(({ target }) =>
    target === "/in"
      ? reply(302, { location: "/home", "set-cookie": "sid=1; Path=/" }, "moved")
      : reply(200, { "set-cookie": "seen=1" }, "home")
  );
  const service = makeInService();
  const request = { url: `${site.origin}/in`, allow: named(site.origin) };
  const first = await service.ask({ ...request, cookies: "a=1; b=2" });
  deepEqual([first.status, first.setCookies, first.next], [302, ["sid=1; Path=/"], {
    ...{ method: "GET", url: `${site.origin}/home`, body: false },
  }]);
  equal(first.body, "");
  const empty = await service.ask({ ...request, url: `${site.origin}/home`, cookies: "" });
  deepEqual([textOf(empty), empty.setCookies, empty.next], ["home", ["seen=1"], undefined]);
  // Without the field it is as ever: followed, and nothing of cookies told or sent.
  const plain = await service.ask(request);
  deepEqual([textOf(plain), plain.setCookies, plain.next], ["home", undefined, undefined]);
  deepEqual(site.seen.map(({ target, headers }) => [target, headers["cookie"]]), [
    ...[["/in", "a=1; b=2"], ["/home", undefined], ["/in", undefined], ["/home", undefined]],
  ]);
});

Deno.test("a redirect to another origin ends a request with cookies, and that origin sees nothing", async () => {
  await using other = startSite(() => reply(200));
  await using site = startSite(() => redirect(302, `${other.origin}/`));
  const got = await makeInService().ask({
    ...{ url: `${site.origin}/`, allow: named(site.origin), cookies: "sid=1" },
  });
  match(got.stopped?.why ?? "", /not/);
  deepEqual([got.next, other.seen], [undefined, []]);
});

Deno.test("cookies that would break the head are refused", async () => {
  for (const cookies of ["a=1\r\nx: y", "a=ü", "a".repeat(16_385)]) {
    await rejects(
      makeInService().ask({ url: "http://127.0.0.1:1/", cookies }),
      isFault("refused"),
    );
  }
});
