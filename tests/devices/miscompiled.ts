/** Changes the text of a shader. */
export type Change = (code: string) => string;

/** Gets an update's first weight wrong. */
const wrongWeight: Change = (code) => code.replace(/const W0 = [\d.]+f;/, "const W0 = 0.25f;");

/**
 * Runs a test with a compiler that gets shaders of that label wrong.
 *
 * @returns how many shaders were changed
 */
export async function miscompiled(
  label: RegExp,
  test: () => Promise<void>,
  change = wrongWeight,
): Promise<number> {
  const { createShaderModule } = GPUDevice.prototype;
  let changed = 0;
  GPUDevice.prototype.createShaderModule = function (descriptor) {
    if (!label.test(descriptor.label ?? "")) return createShaderModule.call(this, descriptor);
    const code = change(descriptor.code);
    if (code !== descriptor.code) changed++;
    return createShaderModule.call(this, { ...descriptor, code });
  };
  try {
    await test();
  } finally {
    GPUDevice.prototype.createShaderModule = createShaderModule;
  }
  return changed;
}
