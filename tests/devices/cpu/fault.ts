/** Makes `step0` of every WebAssembly instance throw when it is called the fourth time, in worker `cpu 1`. */
const RealInstance = WebAssembly.Instance;

if ((globalThis as unknown as { name: string }).name === "cpu 1") {
  let calls = 0;
  WebAssembly.Instance = function (module: WebAssembly.Module, imports: WebAssembly.Imports) {
    const { exports } = new RealInstance(module, imports);
    const step = exports.step0 as (...box: number[]) => void;
    const faulty = (...box: number[]): void => {
      // a share is up to three boxes: count by arrays, which swap every step
      if (box[0] !== last) calls++;
      last = box[0]!;
      if (calls === 4) throw new Error("injected fault");
      step(...box);
    };
    let last = -1;
    return { exports: { ...exports, step0: faulty } };
  } as unknown as typeof WebAssembly.Instance;
}
