// 3D life 5/2-7: a workgroup computes a torre, a thread 4 cells along z.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 25184; const SLICE = 3072; const PITCH = 96;
const DTS = 1; const S = 2; const W = 4;
const SLICE_T = SLICE / 4; const PITCH_T = PITCH / 4; // in elements of a thread
const W0 = 5.0f;
const W1 = -2.0f;
const W2 = 3.0f;
struct Row { x: i32, y: i32, tiers: i32, unused: i32 } // base of the row's first torre at its first tier
@group(0) @binding(0) var<storage, read_write> now: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> before: array<vec4f>;
@group(0) @binding(2) var<uniform> rows: array<Row, 16>;
var<workgroup> exchange: array<array<vec4f, 15>, 16>;

@compute @workgroup_size(13)
fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
  let thread = i32(l.x);
  let slot = thread + 1;
  let row = rows[w.y];
  let y = row.y + i32(w.x) * W;
  if (y - W / 2 + 1 >= NY) { return; } // this row is shorter than another of the dispatch
  let acrossY = y - W / 2 + 1 < 0 || y + W / 2 > NY;
  var x = row.x;
  var base = ORIGIN / 4 + x * SLICE_T + y * PITCH_T + thread;
  let inside = vec4<bool>(4 * thread < NZ, 4 * thread + 1 < NZ, 4 * thread + 2 < NZ, 4 * thread + 3 < NZ);
  var f_m2_m2 = now[base - 2 * SLICE_T];
  var f_m1_m1 = now[base - SLICE_T];
  var f_m2_0 = now[base - SLICE_T - PITCH_T];
  var f_0_m2 = now[base - SLICE_T + PITCH_T];
  var f_0_0 = now[base];
  var f_m1_1 = now[base - PITCH_T];
  var f_1_m1 = now[base + PITCH_T];
  var f_1_1 = now[base + SLICE_T];
  for (var tier = 0; tier < row.tiers; tier += 1) {
    // tier 0: now → before
    var l0_m2_2: vec4f;
    var l0_2_m2: vec4f;
    var l0_m1_3: vec4f;
    var l0_0_2: vec4f;
    var l0_2_0: vec4f;
    var l0_3_m1: vec4f;
    var l0_0_4: vec4f;
    var l0_1_3: vec4f;
    var l0_2_2: vec4f;
    let odd = tier % 2 == 1;
    if (odd) {
      l0_m2_2 = before[base - 2 * PITCH_T];
      l0_2_m2 = before[base + 2 * PITCH_T];
      l0_m1_3 = before[base + SLICE_T - 2 * PITCH_T];
      l0_0_2 = before[base + SLICE_T - PITCH_T];
      l0_2_0 = before[base + SLICE_T + PITCH_T];
      l0_3_m1 = before[base + SLICE_T + 2 * PITCH_T];
      l0_0_4 = before[base + 2 * SLICE_T - 2 * PITCH_T];
      l0_1_3 = before[base + 2 * SLICE_T - PITCH_T];
      l0_2_2 = before[base + 2 * SLICE_T];
    } else {
      l0_m2_2 = now[base - 2 * PITCH_T];
      l0_2_m2 = now[base + 2 * PITCH_T];
      l0_m1_3 = now[base + SLICE_T - 2 * PITCH_T];
      l0_0_2 = now[base + SLICE_T - PITCH_T];
      l0_2_0 = now[base + SLICE_T + PITCH_T];
      l0_3_m1 = now[base + SLICE_T + 2 * PITCH_T];
      l0_0_4 = now[base + 2 * SLICE_T - 2 * PITCH_T];
      l0_1_3 = now[base + 2 * SLICE_T - PITCH_T];
      l0_2_2 = now[base + 2 * SLICE_T];
    }
    exchange[0][slot] = f_m2_0;
    exchange[1][slot] = f_m1_m1;
    exchange[2][slot] = f_0_m2;
    exchange[3][slot] = l0_m2_2;
    exchange[4][slot] = f_m1_1;
    exchange[5][slot] = f_0_0;
    exchange[6][slot] = f_1_m1;
    exchange[7][slot] = l0_2_m2;
    workgroupBarrier();
    let s0_0_m2_0 = vec4f(exchange[0][slot - 1].w, f_m2_0.x, f_m2_0.y, f_m2_0.z) + f_m2_0 + vec4f(f_m2_0.y, f_m2_0.z, f_m2_0.w, exchange[0][slot + 1].x);
    let s0_0_m1_m1 = vec4f(exchange[1][slot - 1].w, f_m1_m1.x, f_m1_m1.y, f_m1_m1.z) + f_m1_m1 + vec4f(f_m1_m1.y, f_m1_m1.z, f_m1_m1.w, exchange[1][slot + 1].x);
    let s0_0_0_m2 = vec4f(exchange[2][slot - 1].w, f_0_m2.x, f_0_m2.y, f_0_m2.z) + f_0_m2 + vec4f(f_0_m2.y, f_0_m2.z, f_0_m2.w, exchange[2][slot + 1].x);
    let s0_0_m2_2 = vec4f(exchange[3][slot - 1].w, l0_m2_2.x, l0_m2_2.y, l0_m2_2.z) + l0_m2_2 + vec4f(l0_m2_2.y, l0_m2_2.z, l0_m2_2.w, exchange[3][slot + 1].x);
    let s0_0_m1_1 = vec4f(exchange[4][slot - 1].w, f_m1_1.x, f_m1_1.y, f_m1_1.z) + f_m1_1 + vec4f(f_m1_1.y, f_m1_1.z, f_m1_1.w, exchange[4][slot + 1].x);
    let s0_0_0_0 = vec4f(exchange[5][slot - 1].w, f_0_0.x, f_0_0.y, f_0_0.z) + f_0_0 + vec4f(f_0_0.y, f_0_0.z, f_0_0.w, exchange[5][slot + 1].x);
    let s0_0_1_m1 = vec4f(exchange[6][slot - 1].w, f_1_m1.x, f_1_m1.y, f_1_m1.z) + f_1_m1 + vec4f(f_1_m1.y, f_1_m1.z, f_1_m1.w, exchange[6][slot + 1].x);
    let s0_0_2_m2 = vec4f(exchange[7][slot - 1].w, l0_2_m2.x, l0_2_m2.y, l0_2_m2.z) + l0_2_m2 + vec4f(l0_2_m2.y, l0_2_m2.z, l0_2_m2.w, exchange[7][slot + 1].x);
    let s0_1_m1_m1 = s0_0_m2_0 + s0_0_m1_m1 + s0_0_0_m2;
    let s0_1_m1_1 = s0_0_m2_2 + s0_0_m1_1 + s0_0_0_0;
    let s0_1_0_0 = s0_0_m1_1 + s0_0_0_0 + s0_0_1_m1;
    let s0_1_1_m1 = s0_0_0_0 + s0_0_1_m1 + s0_0_2_m2;
    var l0_3_1: vec4f;
    var l0_4_0: vec4f;
    var l0_1_5: vec4f;
    var l0_2_4: vec4f;
    var l0_3_3: vec4f;
    var l0_4_2: vec4f;
    var l0_5_1: vec4f;
    var l0_3_5: vec4f;
    if (odd) {
      l0_3_1 = before[base + 2 * SLICE_T + PITCH_T];
      l0_4_0 = before[base + 2 * SLICE_T + 2 * PITCH_T];
      l0_1_5 = before[base + 3 * SLICE_T - 2 * PITCH_T];
      l0_2_4 = before[base + 3 * SLICE_T - PITCH_T];
      l0_3_3 = before[base + 3 * SLICE_T];
      l0_4_2 = before[base + 3 * SLICE_T + PITCH_T];
      l0_5_1 = before[base + 3 * SLICE_T + 2 * PITCH_T];
      l0_3_5 = before[base + 4 * SLICE_T - PITCH_T];
    } else {
      l0_3_1 = now[base + 2 * SLICE_T + PITCH_T];
      l0_4_0 = now[base + 2 * SLICE_T + 2 * PITCH_T];
      l0_1_5 = now[base + 3 * SLICE_T - 2 * PITCH_T];
      l0_2_4 = now[base + 3 * SLICE_T - PITCH_T];
      l0_3_3 = now[base + 3 * SLICE_T];
      l0_4_2 = now[base + 3 * SLICE_T + PITCH_T];
      l0_5_1 = now[base + 3 * SLICE_T + 2 * PITCH_T];
      l0_3_5 = now[base + 4 * SLICE_T - PITCH_T];
    }
    exchange[8][slot] = l0_m1_3;
    exchange[9][slot] = l0_0_2;
    exchange[10][slot] = f_1_1;
    exchange[11][slot] = l0_2_0;
    exchange[12][slot] = l0_3_m1;
    exchange[13][slot] = l0_0_4;
    exchange[14][slot] = l0_1_3;
    exchange[15][slot] = l0_2_2;
    workgroupBarrier();
    let s0_0_m1_3 = vec4f(exchange[8][slot - 1].w, l0_m1_3.x, l0_m1_3.y, l0_m1_3.z) + l0_m1_3 + vec4f(l0_m1_3.y, l0_m1_3.z, l0_m1_3.w, exchange[8][slot + 1].x);
    let s0_0_0_2 = vec4f(exchange[9][slot - 1].w, l0_0_2.x, l0_0_2.y, l0_0_2.z) + l0_0_2 + vec4f(l0_0_2.y, l0_0_2.z, l0_0_2.w, exchange[9][slot + 1].x);
    let s0_0_1_1 = vec4f(exchange[10][slot - 1].w, f_1_1.x, f_1_1.y, f_1_1.z) + f_1_1 + vec4f(f_1_1.y, f_1_1.z, f_1_1.w, exchange[10][slot + 1].x);
    let s0_0_2_0 = vec4f(exchange[11][slot - 1].w, l0_2_0.x, l0_2_0.y, l0_2_0.z) + l0_2_0 + vec4f(l0_2_0.y, l0_2_0.z, l0_2_0.w, exchange[11][slot + 1].x);
    let s0_0_3_m1 = vec4f(exchange[12][slot - 1].w, l0_3_m1.x, l0_3_m1.y, l0_3_m1.z) + l0_3_m1 + vec4f(l0_3_m1.y, l0_3_m1.z, l0_3_m1.w, exchange[12][slot + 1].x);
    let s0_0_0_4 = vec4f(exchange[13][slot - 1].w, l0_0_4.x, l0_0_4.y, l0_0_4.z) + l0_0_4 + vec4f(l0_0_4.y, l0_0_4.z, l0_0_4.w, exchange[13][slot + 1].x);
    let s0_0_1_3 = vec4f(exchange[14][slot - 1].w, l0_1_3.x, l0_1_3.y, l0_1_3.z) + l0_1_3 + vec4f(l0_1_3.y, l0_1_3.z, l0_1_3.w, exchange[14][slot + 1].x);
    let s0_0_2_2 = vec4f(exchange[15][slot - 1].w, l0_2_2.x, l0_2_2.y, l0_2_2.z) + l0_2_2 + vec4f(l0_2_2.y, l0_2_2.z, l0_2_2.w, exchange[15][slot + 1].x);
    let s0_1_0_2 = s0_0_m1_3 + s0_0_0_2 + s0_0_1_1;
    let s0_1_1_1 = s0_0_0_2 + s0_0_1_1 + s0_0_2_0;
    let s0_1_2_0 = s0_0_1_1 + s0_0_2_0 + s0_0_3_m1;
    let s0_1_1_3 = s0_0_0_4 + s0_0_1_3 + s0_0_2_2;
    let n0_0_0_0 = s0_1_m1_m1 + s0_1_0_0 + s0_1_1_1;
    let n0_0_0_1 = f_0_0;
    var n0_0_0 = select(vec4f(), step(W0 + W1 * n0_0_0_1, n0_0_0_0) * step(n0_0_0_0, W0 + W2 * n0_0_0_1), inside);
    let n0_0_2_0 = s0_1_m1_1 + s0_1_0_2 + s0_1_1_3;
    let n0_0_2_1 = l0_0_2;
    var n0_0_2 = select(vec4f(), step(W0 + W1 * n0_0_2_1, n0_0_2_0) * step(n0_0_2_0, W0 + W2 * n0_0_2_1), inside);
    var l0_4_4: vec4f;
    var l0_5_3: vec4f;
    if (odd) {
      l0_4_4 = before[base + 4 * SLICE_T];
      l0_5_3 = before[base + 4 * SLICE_T + PITCH_T];
    } else {
      l0_4_4 = now[base + 4 * SLICE_T];
      l0_5_3 = now[base + 4 * SLICE_T + PITCH_T];
    }
    exchange[0][slot] = l0_3_1;
    exchange[1][slot] = l0_4_0;
    exchange[2][slot] = l0_1_5;
    exchange[3][slot] = l0_2_4;
    exchange[4][slot] = l0_3_3;
    exchange[5][slot] = l0_4_2;
    exchange[6][slot] = l0_5_1;
    exchange[7][slot] = l0_3_5;
    workgroupBarrier();
    let s0_0_3_1 = vec4f(exchange[0][slot - 1].w, l0_3_1.x, l0_3_1.y, l0_3_1.z) + l0_3_1 + vec4f(l0_3_1.y, l0_3_1.z, l0_3_1.w, exchange[0][slot + 1].x);
    let s0_0_4_0 = vec4f(exchange[1][slot - 1].w, l0_4_0.x, l0_4_0.y, l0_4_0.z) + l0_4_0 + vec4f(l0_4_0.y, l0_4_0.z, l0_4_0.w, exchange[1][slot + 1].x);
    let s0_0_1_5 = vec4f(exchange[2][slot - 1].w, l0_1_5.x, l0_1_5.y, l0_1_5.z) + l0_1_5 + vec4f(l0_1_5.y, l0_1_5.z, l0_1_5.w, exchange[2][slot + 1].x);
    let s0_0_2_4 = vec4f(exchange[3][slot - 1].w, l0_2_4.x, l0_2_4.y, l0_2_4.z) + l0_2_4 + vec4f(l0_2_4.y, l0_2_4.z, l0_2_4.w, exchange[3][slot + 1].x);
    let s0_0_3_3 = vec4f(exchange[4][slot - 1].w, l0_3_3.x, l0_3_3.y, l0_3_3.z) + l0_3_3 + vec4f(l0_3_3.y, l0_3_3.z, l0_3_3.w, exchange[4][slot + 1].x);
    let s0_0_4_2 = vec4f(exchange[5][slot - 1].w, l0_4_2.x, l0_4_2.y, l0_4_2.z) + l0_4_2 + vec4f(l0_4_2.y, l0_4_2.z, l0_4_2.w, exchange[5][slot + 1].x);
    let s0_0_5_1 = vec4f(exchange[6][slot - 1].w, l0_5_1.x, l0_5_1.y, l0_5_1.z) + l0_5_1 + vec4f(l0_5_1.y, l0_5_1.z, l0_5_1.w, exchange[6][slot + 1].x);
    let s0_0_3_5 = vec4f(exchange[7][slot - 1].w, l0_3_5.x, l0_3_5.y, l0_3_5.z) + l0_3_5 + vec4f(l0_3_5.y, l0_3_5.z, l0_3_5.w, exchange[7][slot + 1].x);
    let s0_1_2_2 = s0_0_1_3 + s0_0_2_2 + s0_0_3_1;
    let s0_1_3_1 = s0_0_2_2 + s0_0_3_1 + s0_0_4_0;
    let s0_1_2_4 = s0_0_1_5 + s0_0_2_4 + s0_0_3_3;
    let s0_1_3_3 = s0_0_2_4 + s0_0_3_3 + s0_0_4_2;
    let s0_1_4_2 = s0_0_3_3 + s0_0_4_2 + s0_0_5_1;
    let n0_1_1_0 = s0_1_0_0 + s0_1_1_1 + s0_1_2_2;
    let n0_1_1_1 = f_1_1;
    var n0_1_1 = select(vec4f(), step(W0 + W1 * n0_1_1_1, n0_1_1_0) * step(n0_1_1_0, W0 + W2 * n0_1_1_1), inside);
    let n0_2_0_0 = s0_1_1_m1 + s0_1_2_0 + s0_1_3_1;
    let n0_2_0_1 = l0_2_0;
    var n0_2_0 = select(vec4f(), step(W0 + W1 * n0_2_0_1, n0_2_0_0) * step(n0_2_0_0, W0 + W2 * n0_2_0_1), inside);
    let n0_1_3_0 = s0_1_0_2 + s0_1_1_3 + s0_1_2_4;
    let n0_1_3_1 = l0_1_3;
    var n0_1_3 = select(vec4f(), step(W0 + W1 * n0_1_3_1, n0_1_3_0) * step(n0_1_3_0, W0 + W2 * n0_1_3_1), inside);
    let n0_2_2_0 = s0_1_1_1 + s0_1_2_2 + s0_1_3_3;
    let n0_2_2_1 = l0_2_2;
    var n0_2_2 = select(vec4f(), step(W0 + W1 * n0_2_2_1, n0_2_2_0) * step(n0_2_2_0, W0 + W2 * n0_2_2_1), inside);
    let n0_3_1_0 = s0_1_2_0 + s0_1_3_1 + s0_1_4_2;
    let n0_3_1_1 = l0_3_1;
    var n0_3_1 = select(vec4f(), step(W0 + W1 * n0_3_1_1, n0_3_1_0) * step(n0_3_1_0, W0 + W2 * n0_3_1_1), inside);
    exchange[8][slot] = l0_4_4;
    exchange[9][slot] = l0_5_3;
    workgroupBarrier();
    let s0_0_4_4 = vec4f(exchange[8][slot - 1].w, l0_4_4.x, l0_4_4.y, l0_4_4.z) + l0_4_4 + vec4f(l0_4_4.y, l0_4_4.z, l0_4_4.w, exchange[8][slot + 1].x);
    let s0_0_5_3 = vec4f(exchange[9][slot - 1].w, l0_5_3.x, l0_5_3.y, l0_5_3.z) + l0_5_3 + vec4f(l0_5_3.y, l0_5_3.z, l0_5_3.w, exchange[9][slot + 1].x);
    let s0_1_4_4 = s0_0_3_5 + s0_0_4_4 + s0_0_5_3;
    let n0_3_3_0 = s0_1_2_2 + s0_1_3_3 + s0_1_4_4;
    let n0_3_3_1 = l0_3_3;
    var n0_3_3 = select(vec4f(), step(W0 + W1 * n0_3_3_1, n0_3_3_0) * step(n0_3_3_0, W0 + W2 * n0_3_3_1), inside);
    if (acrossY || x < 0 || x + W > NX) {
      let inX0 = u32(x) < u32(NX);
      let inX1 = u32(x + 1) < u32(NX);
      let inX2 = u32(x + 2) < u32(NX);
      let inX3 = u32(x + 3) < u32(NX);
      let inY_1 = u32(y - 1) < u32(NY);
      let inY0 = u32(y) < u32(NY);
      let inY1 = u32(y + 1) < u32(NY);
      n0_0_0 = select(vec4f(), n0_0_0, inX0 && inY0);
      n0_1_1 = select(vec4f(), n0_1_1, inX1 && inY0);
      n0_0_2 = select(vec4f(), n0_0_2, inX1 && inY_1);
      n0_2_0 = select(vec4f(), n0_2_0, inX1 && inY1);
      n0_2_2 = select(vec4f(), n0_2_2, inX2 && inY0);
      n0_1_3 = select(vec4f(), n0_1_3, inX2 && inY_1);
      n0_3_1 = select(vec4f(), n0_3_1, inX2 && inY1);
      n0_3_3 = select(vec4f(), n0_3_3, inX3 && inY0);
    }
    if (odd) {
      now[base] = n0_0_0;
      now[base + SLICE_T] = n0_1_1;
      now[base + SLICE_T - PITCH_T] = n0_0_2;
      now[base + SLICE_T + PITCH_T] = n0_2_0;
      now[base + 2 * SLICE_T] = n0_2_2;
      now[base + 2 * SLICE_T - PITCH_T] = n0_1_3;
      now[base + 2 * SLICE_T + PITCH_T] = n0_3_1;
      now[base + 3 * SLICE_T] = n0_3_3;
    } else {
      before[base] = n0_0_0;
      before[base + SLICE_T] = n0_1_1;
      before[base + SLICE_T - PITCH_T] = n0_0_2;
      before[base + SLICE_T + PITCH_T] = n0_2_0;
      before[base + 2 * SLICE_T] = n0_2_2;
      before[base + 2 * SLICE_T - PITCH_T] = n0_1_3;
      before[base + 2 * SLICE_T + PITCH_T] = n0_3_1;
      before[base + 3 * SLICE_T] = n0_3_3;
    }
    x += S;
    base += S * SLICE_T;
    f_m2_m2 = n0_0_0;
    f_m1_m1 = n0_1_1;
    f_m2_0 = n0_0_2;
    f_0_m2 = n0_2_0;
    f_0_0 = n0_2_2;
    f_m1_1 = n0_1_3;
    f_1_m1 = n0_3_1;
    f_1_1 = n0_3_3;
  }
}
