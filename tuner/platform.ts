/**
 * Where Deno, Node.js and a page differ: all else that `mod.ts` reaches uses only what they share.
 *
 * @module
 */

/** Node.js's own modules that are used here. */
interface NodeModules {
  readonly "node:fs/promises": typeof import("node:fs/promises");
  readonly "node:os": typeof import("node:os");
  readonly "node:process": typeof import("node:process");
  readonly "node:worker_threads": typeof import("node:worker_threads");
  readonly "node:zlib": typeof import("node:zlib");
}

/** A module of Node.js, which Deno has too; undefined in a page. Bundlers see no import that they would have to resolve. */
function nodeModule<Name extends keyof NodeModules>(name: Name): NodeModules[Name] | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  return process?.getBuiltinModule?.(name) as NodeModules[Name] | undefined;
}

/** Whether this is a page, or a worker of one. */
export function isPage(): boolean {
  return nodeModule("node:os") === undefined;
}

/** System and architecture, as `linux x86_64`, and the version of Deno; empty elsewhere. */
export function describeSystem(): { os: string; deno: string } {
  if (typeof Deno !== "undefined") {
    return { os: `${Deno.build.os} ${Deno.build.arch}`, deno: Deno.version.deno };
  }
  const os = nodeModule("node:os");
  return { os: os === undefined ? "browser" : `${os.platform()} ${os.machine()}`, deno: "" };
}

/** An environment variable; undefined where there are none, or where Deno may not read it. */
export function environmentOf(variable: string): string | undefined {
  if (typeof Deno === "undefined") return nodeModule("node:process")?.env[variable];
  const { state } = Deno.permissions.querySync({ name: "env", variable });
  return state === "granted" ? Deno.env.get(variable) : undefined;
}

/** Whether a file may be read without asking anyone. */
export function mayRead(path: string | URL): boolean {
  if (typeof Deno === "undefined") return !isPage();
  return Deno.permissions.querySync({ name: "read", path }).state === "granted";
}

/** What the system reported, in a few words: `No such file or directory`; of a missing permission the flag that gives it. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, kind, of] = /^Requires (\w+) access(?: to "(.*)")?, run again/.exec(message) ?? [];
  if (kind === "all") return "Deno guards what the system keeps there";
  if (kind !== undefined) {
    const what = ["read", "write", "run"].includes(kind) ? `${kind} it` : `use ${kind}`;
    const flag = `--allow-${kind}${of && `=${of}`}`;
    return `Deno may not ${what}: run it as a task (deno task NAME), or add ${flag}`;
  }
  return message.replace(/\n.*/s, "").replace(/ \(os error \d+\).*$/, "")
    .replace(/^E[A-Z]+: (.*), \w+(?: '.*')?$/, "$1");
}

/** Logical cores that this process may use. */
export function countCores(): number {
  // Node.js 20 has no navigator
  const cores = globalThis.navigator?.hardwareConcurrency ?? nodeModule("node:os")?.availableParallelism();
  return Math.max(1, cores ?? 1);
}

/** The CPU's name; empty where the system does not tell. */
export function cpuName(): string {
  try {
    const name = nodeModule("node:os")?.cpus()[0]?.model.replace(/\s+/g, " ").trim() ?? "";
    // Linux on ARM has no "model name": Deno says "unknown"
    return name === "unknown" ? "" : name;
  } catch {
    return "";
  }
}

/** Bytes of memory that are free; undefined where asking is impossible, or needs a permission that is missing. */
export function freeMemory(): number | undefined {
  if (typeof Deno === "undefined") return nodeModule("node:os")?.freemem();
  const { state } = Deno.permissions.querySync({ name: "sys", kind: "systemMemoryInfo" });
  return state === "granted" ? Deno.systemMemoryInfo().available : undefined;
}

/**
 * The bytes of a file, piece by piece, each in the place of the last; `onSize` is called before with its size, of a file
 * that has one.
 */
export async function* readPieces(
  path: string | URL,
  onSize: (bytes: number) => void,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const file = await nodeModule("node:fs/promises")!.open(path);
  try {
    const status = await file.stat();
    if (status.isFile()) onSize(status.size);
    const piece = new Uint8Array(2 ** 20);
    while (true) {
      const { bytesRead } = await file.read(piece);
      if (bytesRead === 0) return;
      yield piece.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Writes beside a file, links followed, flushes to disk, and renames: POSIX replaces a file by renaming in one step. */
export async function replaceBytes(path: string, bytes: Uint8Array): Promise<void> {
  const { open, realpath, rename, rm } = nodeModule("node:fs/promises")!;
  const target = await realpath(path).catch(() => path);
  const at = 1 + Math.max(target.lastIndexOf("/"), target.lastIndexOf("\\")), folder = target.slice(0, at);
  const temporary = `${folder}.${target.slice(at)}.${crypto.randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx");
    try {
      // one call may take only some of them
      for (let done = 0; done < bytes.length;) done += (await file.write(bytes.subarray(done))).bytesWritten;
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  try {
    // makes the rename itself durable, where directories can be opened
    const handle = await open(folder || ".");
    await handle.sync().finally(() => handle.close());
  } catch {
    // the file is whole either way
  }
}

/** The CRC-32 of bytes behind others, whose own it goes on from. */
export function crc32(bytes: Uint8Array, before = 0): number {
  const zlib = nodeModule("node:zlib");
  if (zlib?.crc32 !== undefined) return zlib.crc32(bytes, before);
  sums ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    for (let bit = 0; bit < 8; bit++) byte = byte >>> 1 ^ (byte & 1 ? 0xedb88320 : 0);
    return byte;
  });
  let sum = ~before;
  for (const byte of bytes) sum = sums[(sum ^ byte) & 0xff]! ^ sum >>> 8;
  return ~sum >>> 0;
}

/** The CRC-32 of each byte, where nothing else computes it. */
let sums: Uint32Array | undefined;

/** WebGPU, where there is any; in Node.js that of the package `webgpu`, if it is installed. */
export async function findWebGpu(): Promise<GPU | undefined> {
  return globalThis.navigator?.gpu ?? (isPage() ? undefined : await (nodeGpu ??= loadNodeGpu()));
}

/** Kept: what it made lives only as long as it does. */
let nodeGpu: Promise<GPU | undefined> | undefined;

async function loadNodeGpu(): Promise<GPU | undefined> {
  const nothing = ""; // a whole name is what bundlers want to resolve
  try {
    const { create, globals } = await import(/* @vite-ignore */ `webgpu${nothing}`);
    Object.assign(globalThis, globals);
    return create([]);
  } catch {
    return undefined;
  }
}

/** Memory that threads share, where the page may; else ordinary memory, of which one thread alone can make use. */
export function shareable(bytes: number): SharedArrayBuffer {
  const Memory = globalThis.SharedArrayBuffer ?? ArrayBuffer;
  return new Memory(bytes) as SharedArrayBuffer;
}

/** A worker as its starter sees it. */
export interface Thread {
  postMessage(message: unknown): void;
  terminate(): unknown;
  /** Makes the process wait for its end, as it does not at first; a page never does. */
  ref?(): void;
  unref?(): void;
}

/** What happens to a worker. */
export interface ThreadEvents<Message> {
  onMessage(message: Message): void;
  /** It ended; the message is one line. */
  onError(message: string): void;
}

/** Node.js's class, which Deno has, too, in the words of a page's; of a module from elsewhere than files Deno's has no idea. */
function threadClass({ Worker }: NodeModules["node:worker_threads"]): typeof globalThis.Worker {
  const Thread = class extends Worker {
    constructor(url: URL, { name }: WorkerOptions = {}) {
      const isLocal = ["file:", "data:"].includes(url.protocol), load = `import ${JSON.stringify(url.href)};`;
      super(
        isLocal ? url : new URL(`data:text/javascript,${encodeURIComponent(load)}`),
        name ? { name } : {},
      );
    }
  };
  return Thread as unknown as typeof globalThis.Worker;
}

/**
 * Starts a worker, for which the process does not wait: `make` is given the class and returns `new` one of it, in the words
 * that bundlers look for.
 */
export function startThread<Message>(
  make: (Worker: typeof globalThis.Worker) => Worker,
  { onMessage, onError }: ThreadEvents<Message>,
): Thread {
  const node = nodeModule("node:worker_threads");
  const thread = make((node && threadClass(node)) ?? globalThis.Worker);
  let hasEnded = false;
  const failed = (message = "its module cannot be loaded"): void => {
    if (!hasEnded) onError(message.split("\n", 1)[0]!);
    hasEnded = true;
  };
  if (node !== undefined) {
    const emitter = thread as unknown as InstanceType<typeof node.Worker>;
    emitter.on("message", onMessage).on("error", ({ message }: Error) => failed(message));
    emitter.on("exit", () => failed("it ended"));
    emitter.unref(); // in Node.js a listener takes it back
    return emitter;
  }
  thread.onmessage = ({ data }) => onMessage(data);
  thread.onerror = (event) => {
    event.preventDefault();
    failed(event.message);
  };
  return thread;
}

/** In a worker: answers each message that its starter posts, if only later; undefined is no answer. */
export function answerMessages<Message>(answer: (message: Message) => unknown): void {
  const scope = globalThis as unknown as { onmessage: unknown; postMessage?(message: unknown): void };
  const port = scope.postMessage === undefined ? nodeModule("node:worker_threads")!.parentPort! : undefined;
  const receive = async (message: Message): Promise<void> => {
    const reply = await answer(message);
    if (reply !== undefined) (port ?? scope).postMessage!(reply);
  };
  if (port === undefined) scope.onmessage = ({ data }: MessageEvent<Message>) => receive(data);
  else port.on("message", receive);
}
