import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { describeDriver } from "../../tuner/devices/driver.ts";

const manifest = (path: unknown): string => JSON.stringify({ ICD: { library_path: path } });

Deno.test("a driver is told by its library; an update, another driver and none are told apart", async () => {
  const directory = await Deno.makeTempDir({ prefix: "facet-driver-" });
  try {
    const places = { icdDirectories: [`${directory}/missing`, directory], libraryDirectories: [directory] };
    assertEquals(await describeDriver(places), undefined);
    for (
      const [name, text] of [["a", "not json"], ["b", "null"], ["c", manifest(5)], ["d", manifest("no.so")]]
    ) {
      await Deno.writeTextFile(`${directory}/${name}.json`, text!);
    }
    assertEquals(await describeDriver(places), undefined);
    await Deno.writeTextFile(`${directory}/lib.so.535.1`, "driver");
    await Deno.symlink(`${directory}/lib.so.535.1`, `${directory}/lib.so`);
    await Deno.writeTextFile(`${directory}/gpu.json`, manifest("lib.so"));
    const before = await describeDriver(places);
    assert(before?.startsWith("lib.so.535.1 6 "), before);
    assertEquals(await describeDriver(places), before);
    await Deno.writeTextFile(`${directory}/lib.so.535.1`, "driver, updated");
    const after = await describeDriver(places);
    assertNotEquals(after, before);
    await Deno.writeTextFile(`${directory}/soft.so`, "other");
    await Deno.writeTextFile(`${directory}/soft.json`, manifest(`${directory}/soft.so`));
    assert((await describeDriver(places))!.includes("; soft.so 5 "));
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
