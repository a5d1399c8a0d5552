// Largest difference of two states, over the grid's own cells, all planes.
struct Slices { result: i32, reference: i32 }
struct Comparison { maxError: atomic<u32>, maxValue: atomic<u32>, notFinite: atomic<u32>, count: atomic<u32> }
@group(0) @binding(0) var<storage, read_write> result: array<f32>;
@group(0) @binding(1) var<storage, read_write> reference: array<f32>;
@group(0) @binding(2) var<uniform> slices: Slices;
@group(0) @binding(3) var<storage, read_write> comparison: Comparison;
var<workgroup> maxError: atomic<u32>;
var<workgroup> maxValue: atomic<u32>;
var<workgroup> notFinite: atomic<u32>;
var<workgroup> count: atomic<u32>;

// By its bits, since a compiler may take it that no value is infinite or not a number.
fn isFinite(value: f32) -> bool { return (bitcast<u32>(value) & 0x7f800000u) != 0x7f800000u; }

@compute @workgroup_size(50)
fn main(
  @builtin(local_invocation_id) l: vec3u,
  @builtin(workgroup_id) w: vec3u,
  @builtin(num_workgroups) groups: vec3u,
) {
  let row = i32(w.x + w.y * groups.x);
  if (row >= 480) { return; }
  let y = row % 20; let x = row / 20 % 24; let plane = row / 480;
  let mine = 12800 + (x + slices.result) * 2496 + plane * 2496 + y * 96;
  let other = 1480 + (x + slices.reference) * 1408 + plane * 1408 + y * 64;
  var error = 0.0f; var value = 0.0f; var bad = 0u; var seen = 0u;
  for (var z = i32(l.x); z < 50; z += 50) {
    let a = result[mine + z]; let b = reference[other + z];
    if (!isFinite(a) || !isFinite(b)) { bad += 1u; }
    error = max(error, abs(a - b));
    value = max(value, abs(b));
    seen += 1u;
  }
  // Bits of floats that are not negative are ordered like the floats.
  atomicMax(&maxError, bitcast<u32>(error));
  atomicMax(&maxValue, bitcast<u32>(value));
  atomicAdd(&notFinite, bad);
  atomicAdd(&count, seen);
  workgroupBarrier();
  if (l.x == 0u) {
    atomicMax(&comparison.maxError, atomicLoad(&maxError));
    atomicMax(&comparison.maxValue, atomicLoad(&maxValue));
    atomicAdd(&comparison.notFinite, atomicLoad(&notFinite));
    atomicAdd(&comparison.count, atomicLoad(&count));
  }
}
