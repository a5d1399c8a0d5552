// Kuramoto-Sivashinsky equation, 5 points: sub-step 1, 2 points a thread.
const NX = 1; const NY = 1; const NZ = 192;
const ORIGIN = 8; const SLICE = 416; const PITCH = 208;
const PLANES = 2; const PLANE = 208;
const W0 = -0.6600000262260437f;
const W1 = 0.45000001788139343f;
const W2 = -0.0037499999161809683f;
const W3 = -0.12000000476837158f;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;

fn image(z: i32) -> i32 {
  let right = select(z, z - NZ, z >= NZ);
  return select(right, z + NZ, z < 0);
}

@compute @workgroup_size(32)
fn main(
  @builtin(local_invocation_index) thread: u32,
  @builtin(workgroup_id) w: vec3u,
  @builtin(num_workgroups) groups: vec3u,
) {
  let first = i32(w.x + w.y * groups.x) * 64 + i32(thread);
  for (var z = first; z < min(first + 64, NZ); z += 32) {
    let cell = ORIGIN + z;
    let right1 = ORIGIN + image(z + 1);
    let left1 = ORIGIN + image(z - 1);
    let right2 = ORIGIN + image(z + 2);
    let left2 = ORIGIN + image(z - 2);
    let e0 = before[right1 + PLANE];
    let e1 = before[left1 + PLANE];
    before[cell] = now[cell] + (W0 * before[cell + PLANE] + (e0 + e1) * (W1 + W2 * (e0 - e1)) + W3 * (before[right2 + PLANE] + before[left2 + PLANE]));
  }
}
