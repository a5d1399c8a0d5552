// acoustic wave equation, order 2: one step; each workgroup marches along x over 12 slices.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 1480; const SLICE = 1408; const PITCH = 64;
const SLICES = 12;
const W0 = 0.37999993562698364f;
const W1 = 0.27000001072883606f;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;

@compute @workgroup_size(32, 4)
fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
  let column = i32(l.x); let row = i32(l.y);
  let element = i32(w.x) * 32 + column;
  let z = element;
  let y = i32(w.y) * 4 + row;
  let first = i32(w.z) * SLICES;
  let last = min(first + SLICES, NX);
  let insideY = u32(y) < u32(NY);
  let inside = u32(z) < u32(NZ) && insideY;
  let mine = insideY && u32(z) < u32(NZ);
  var cell = ORIGIN + first * SLICE + y * PITCH + element;
  var c0_m1 = now[cell - SLICE];
  var c0_0 = now[cell];
  var c0_1 = f32();
  var c1_0 = f32();
  for (var x = first; x < last; x++) {
    c0_1 = now[cell + SLICE];
    c1_0 = before[cell];
    let r0_0 = now[cell - 1];
    let r0_1 = now[cell + 1];
    let r0_2 = now[cell - PITCH];
    let r0_3 = now[cell + PITCH];
    if (mine) {
      let new0 = W0 * c0_0 - c1_0 + W1 * (r0_0 + r0_1 + (r0_2 + r0_3) + (c0_m1 + c0_1));
      before[cell] = new0;
    }
    c0_m1 = c0_0;
    c0_0 = c0_1;
    cell += SLICE;
  }
}
