import { assert, assertEquals, assertRejects } from "@std/assert";
import { withDirectoryLock, withLock } from "../../tuner/profile/file_lock.ts";

Deno.test("of several at once, one works at a time, and each gets its turn", async () => {
  const directory = await Deno.makeTempDir();
  let working = 0, most = 0, done = 0;
  const work = async (): Promise<void> => {
    most = Math.max(most, ++working);
    await new Promise((resolve) => setTimeout(resolve, 2));
    working--;
    done++;
  };
  await Promise.all(Array.from({ length: 10 }, () => withDirectoryLock(directory, work)));
  assertEquals([most, done], [1, 10]);
  await assertRejects(() => withDirectoryLock(directory, () => Promise.reject(new Error("so"))), Error, "so");
  await withDirectoryLock(directory, work); // given back
  await Deno.remove(directory);
  await withDirectoryLock(directory, work); // nothing to lock
  assertEquals(done, 12);
});

Deno.test("a lock that is not given back is an error in time; a process that is killed gives its own back", async () => {
  const path = await Deno.makeTempFile();
  const code = `const f = await Deno.open(${JSON.stringify(path)}, { read: true, write: true });
    await f.lock(true); console.log("locked"); await new Promise((r) => setTimeout(r, 60_000));`;
  const child = new Deno.Command(Deno.execPath(), { args: ["eval", code], stdout: "piped", stderr: "null" })
    .spawn();
  const reader = child.stdout.getReader();
  assert(!(await reader.read()).done);
  using file = await Deno.open(path, { read: true, write: true });
  const work = () => Promise.resolve("done");
  await assertRejects(() => withLock(file, work, 50), Error, "has kept its lock for 0.05 s");
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  assertEquals(await withLock(file, work), "done");
  await Deno.remove(path);
});

Deno.test("where there are no locks, the work is done", async () => {
  const none = {
    tryLock: () => Promise.reject(new Error("no locks")),
    unlock: () => Promise.reject(new Error()),
  };
  assertEquals(await withLock(none, () => Promise.resolve(1)), 1);
});
