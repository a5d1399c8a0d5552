// acoustic wave equation, order 4: one step; each workgroup marches along x over 12 slices.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 802; const SLICE = 384; const PITCH = 16; // in elements of 4 cells
const SLICES = 12;
const W0 = 0.48124992847442627f;
const W1 = 0.27000001072883606f;
const W2 = -0.016874998807907104f;
@group(0) @binding(0) var<storage, read_write> now: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> before: array<vec4f>;

@compute @workgroup_size(16, 4)
fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
  let column = i32(l.x); let row = i32(l.y);
  let element = i32(w.x) * 16 + column;
  let z = 4 * element;
  let y = i32(w.y) * 4 + row;
  let first = i32(w.z) * SLICES;
  let last = min(first + SLICES, NX);
  let insideY = u32(y) < u32(NY);
  let inside = vec4<bool>(u32(z) < u32(NZ), u32(z + 1) < u32(NZ), u32(z + 2) < u32(NZ), u32(z + 3) < u32(NZ)) & vec4<bool>(insideY);
  let mine = insideY && u32(z) < u32(NZ);
  var cell = ORIGIN + first * SLICE + y * PITCH + element;
  var c0_m2 = now[cell - 2 * SLICE];
  var c0_m1 = now[cell - SLICE];
  var c0_0 = now[cell];
  var c0_1 = now[cell + SLICE];
  var c0_2 = now[cell + 2 * SLICE];
  var c0_3 = vec4f();
  var c1_0 = before[cell];
  var c1_1 = vec4f();
  for (var x = first; x < last; x++) {
    c0_3 = now[cell + 3 * SLICE];
    c1_1 = before[cell + SLICE];
    let r0_0 = now[cell - 1];
    let r0_1 = now[cell + 1];
    let r0_2 = now[cell - PITCH];
    let r0_3 = now[cell + PITCH];
    let r0_4 = now[cell - 2 * PITCH];
    let r0_5 = now[cell + 2 * PITCH];
    if (mine) {
      let new0 = select(vec4f(), W0 * c0_0 - c1_0 + W1 * (vec4f(r0_0.w, c0_0.x, c0_0.y, c0_0.z) + vec4f(c0_0.y, c0_0.z, c0_0.w, r0_1.x) + (r0_2 + r0_3) + (c0_m1 + c0_1)) + W2 * (vec4f(r0_0.z, r0_0.w, c0_0.x, c0_0.y) + vec4f(c0_0.z, c0_0.w, r0_1.x, r0_1.y) + (r0_4 + r0_5) + (c0_m2 + c0_2)), inside);
      before[cell] = new0;
    }
    c0_m2 = c0_m1;
    c0_m1 = c0_0;
    c0_0 = c0_1;
    c0_1 = c0_2;
    c0_2 = c0_3;
    c1_0 = c1_1;
    cell += SLICE;
  }
}
