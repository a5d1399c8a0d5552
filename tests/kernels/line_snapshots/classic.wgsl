// heat conduction in a rod: sub-step 0, 2 points a thread.
const NX = 1; const NY = 1; const NZ = 192;
const ORIGIN = 8; const SLICE = 208; const PITCH = 208;
const W0 = 0.44999998807907104f;
const W1 = 0.10000002384185791f;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;

fn image(z: i32) -> i32 {
  let right = select(z, 2 * (NZ - 1) - z, z >= NZ);
  return select(right, -z, z < 0);
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
    let left1 = ORIGIN + image(z - 1);
    let right1 = ORIGIN + image(z + 1);
    before[cell] = W0 * (now[left1] + now[right1]) + W1 * now[cell];
  }
}
