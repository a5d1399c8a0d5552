/** Runs a test with a compiler that gets the update's first weight wrong in the shaders of that label. */
export async function miscompiled(label: RegExp, test: () => Promise<void>): Promise<number> {
  const { createShaderModule } = GPUDevice.prototype;
  let changed = 0;
  GPUDevice.prototype.createShaderModule = function (descriptor) {
    if (!label.test(descriptor.label ?? "")) return createShaderModule.call(this, descriptor);
    const code = descriptor.code.replace(/const W0 = [\d.]+f;/, "const W0 = 0.25f;");
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
