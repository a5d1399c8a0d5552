// a material, whole numbers, reach 1: a workgroup computes a torre, a thread a cell.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 35072; const SLICE = 5760; const PITCH = 96;
const PLANES = 2; const PLANE = 2880;
const DTS = 2; const S = 1; const W = 4;
const SLICE_T = SLICE; const PITCH_T = PITCH; // in elements of a thread
const PLANE_T = PLANE;
const W0 = -8.0f;
const W1 = 8.0f;
const W2 = 2.0f;
struct Row { x: i32, y: i32, tiers: i32, unused: i32 } // base of the row's first torre at its first tier
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;
@group(0) @binding(2) var<uniform> rows: array<Row, 16>;
var<workgroup> exchange: array<array<f32, 52>, 4>;

@compute @workgroup_size(50)
fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
  let thread = i32(l.x);
  let slot = thread + 1;
  let row = rows[w.y];
  let y = row.y + i32(w.x) * W;
  if (y - W / 2 + 1 >= NY) { return; } // this row is shorter than another of the dispatch
  let acrossY = y - W / 2 + 1 < 0 || y + W / 2 > NY;
  var x = row.x;
  var base = ORIGIN + x * SLICE_T + y * PITCH_T + thread;
  var f_m1_m1 = now[base - SLICE_T];
  var f_0_0 = now[base];
  var f_m1_1 = now[base - PITCH_T];
  var f_1_m1 = now[base + PITCH_T];
  var f_1_1 = now[base + SLICE_T];
  var f_0_2 = now[base + SLICE_T - PITCH_T];
  var f_2_0 = now[base + SLICE_T + PITCH_T];
  var f_2_2 = now[base + 2 * SLICE_T];
  var g_0_0 = before[base];
  var g_1_1 = before[base + SLICE_T];
  var g_0_2 = before[base + SLICE_T - PITCH_T];
  var g_2_0 = before[base + SLICE_T + PITCH_T];
  var g_2_2 = before[base + 2 * SLICE_T];
  var g_1_3 = before[base + 2 * SLICE_T - PITCH_T];
  var g_3_1 = before[base + 2 * SLICE_T + PITCH_T];
  var g_3_3 = before[base + 3 * SLICE_T];
  var m_1_0_0 = now[base + PLANE_T];
  var m_1_0_2 = now[base + SLICE_T - PITCH_T + PLANE_T];
  var m_1_1_1 = now[base + SLICE_T + PLANE_T];
  var m_1_2_0 = now[base + SLICE_T + PITCH_T + PLANE_T];
  var m_1_1_3 = now[base + 2 * SLICE_T - PITCH_T + PLANE_T];
  var m_1_2_2 = now[base + 2 * SLICE_T + PLANE_T];
  var m_1_3_1 = now[base + 2 * SLICE_T + PITCH_T + PLANE_T];
  var m_1_3_3 = now[base + 3 * SLICE_T + PLANE_T];
  for (var tier = 0; tier < row.tiers; tier += 1) {
    // tier 0: now → before
    var l0_m1_3: f32;
    var l0_1_3: f32;
    var l0_3_m1: f32;
    var l0_3_1: f32;
    var l0_3_3: f32;
    var l0_0_4: f32;
    var l0_2_4: f32;
    var l0_4_0: f32;
    var l0_4_2: f32;
    var l0_4_4: f32;
    let odd = tier % 2 == 1;
    if (odd) {
      l0_m1_3 = before[base + SLICE_T - 2 * PITCH_T];
      l0_1_3 = before[base + 2 * SLICE_T - PITCH_T];
      l0_3_m1 = before[base + SLICE_T + 2 * PITCH_T];
      l0_3_1 = before[base + 2 * SLICE_T + PITCH_T];
      l0_3_3 = before[base + 3 * SLICE_T];
      l0_0_4 = before[base + 2 * SLICE_T - 2 * PITCH_T];
      l0_2_4 = before[base + 3 * SLICE_T - PITCH_T];
      l0_4_0 = before[base + 2 * SLICE_T + 2 * PITCH_T];
      l0_4_2 = before[base + 3 * SLICE_T + PITCH_T];
      l0_4_4 = before[base + 4 * SLICE_T];
    } else {
      l0_m1_3 = now[base + SLICE_T - 2 * PITCH_T];
      l0_1_3 = now[base + 2 * SLICE_T - PITCH_T];
      l0_3_m1 = now[base + SLICE_T + 2 * PITCH_T];
      l0_3_1 = now[base + 2 * SLICE_T + PITCH_T];
      l0_3_3 = now[base + 3 * SLICE_T];
      l0_0_4 = now[base + 2 * SLICE_T - 2 * PITCH_T];
      l0_2_4 = now[base + 3 * SLICE_T - PITCH_T];
      l0_4_0 = now[base + 2 * SLICE_T + 2 * PITCH_T];
      l0_4_2 = now[base + 3 * SLICE_T + PITCH_T];
      l0_4_4 = now[base + 4 * SLICE_T];
    }
    let m0n_1_0_0 = now[base + SLICE_T + PLANE_T];
    let m0n_1_0_2 = now[base + 2 * SLICE_T - PITCH_T + PLANE_T];
    let m0n_1_1_1 = now[base + 2 * SLICE_T + PLANE_T];
    let m0n_1_2_0 = now[base + 2 * SLICE_T + PITCH_T + PLANE_T];
    let m0n_1_2_2 = now[base + 3 * SLICE_T + PLANE_T];
    exchange[0][slot] = f_0_0;
    exchange[1][slot] = f_1_1;
    workgroupBarrier();
    var n0_0_0 = max(W0, min(W1, m_1_0_0 * (f_1_1 - f_m1_m1 + W2 * (f_1_m1 - f_m1_1) + (exchange[0][slot + 1] - W2 * exchange[0][slot - 1])) - g_0_0));
    let m0n_1_1_3 = now[base + 3 * SLICE_T - PITCH_T + PLANE_T];
    var n0_1_1 = max(W0, min(W1, m_1_1_1 * (f_2_2 - f_0_0 + W2 * (f_2_0 - f_0_2) + (exchange[1][slot + 1] - W2 * exchange[1][slot - 1])) - g_1_1));
    let m0n_1_3_1 = now[base + 3 * SLICE_T + PITCH_T + PLANE_T];
    exchange[2][slot] = f_0_2;
    exchange[3][slot] = f_2_0;
    workgroupBarrier();
    var n0_0_2 = max(W0, min(W1, m_1_0_2 * (l0_1_3 - f_m1_1 + W2 * (f_1_1 - l0_m1_3) + (exchange[2][slot + 1] - W2 * exchange[2][slot - 1])) - g_0_2));
    let m0n_1_3_3 = now[base + 4 * SLICE_T + PLANE_T];
    var n0_2_0 = max(W0, min(W1, m_1_2_0 * (l0_3_1 - f_1_m1 + W2 * (l0_3_m1 - f_1_1) + (exchange[3][slot + 1] - W2 * exchange[3][slot - 1])) - g_2_0));
    exchange[0][slot] = f_2_2;
    exchange[1][slot] = l0_1_3;
    workgroupBarrier();
    var n0_2_2 = max(W0, min(W1, m_1_2_2 * (l0_3_3 - f_1_1 + W2 * (l0_3_1 - l0_1_3) + (exchange[0][slot + 1] - W2 * exchange[0][slot - 1])) - g_2_2));
    var n0_1_3 = max(W0, min(W1, m_1_1_3 * (l0_2_4 - f_0_2 + W2 * (f_2_2 - l0_0_4) + (exchange[1][slot + 1] - W2 * exchange[1][slot - 1])) - g_1_3));
    exchange[2][slot] = l0_3_1;
    exchange[3][slot] = l0_3_3;
    workgroupBarrier();
    var n0_3_1 = max(W0, min(W1, m_1_3_1 * (l0_4_2 - f_2_0 + W2 * (l0_4_0 - f_2_2) + (exchange[2][slot + 1] - W2 * exchange[2][slot - 1])) - g_3_1));
    var n0_3_3 = max(W0, min(W1, m_1_3_3 * (l0_4_4 - f_2_2 + W2 * (l0_4_2 - l0_2_4) + (exchange[3][slot + 1] - W2 * exchange[3][slot - 1])) - g_3_3));
    if (acrossY || x < 0 || x + W > NX) {
      let inX0 = u32(x) < u32(NX);
      let inX1 = u32(x + 1) < u32(NX);
      let inX2 = u32(x + 2) < u32(NX);
      let inX3 = u32(x + 3) < u32(NX);
      let inY_1 = u32(y - 1) < u32(NY);
      let inY0 = u32(y) < u32(NY);
      let inY1 = u32(y + 1) < u32(NY);
      n0_0_0 = select(f32(), n0_0_0, inX0 && inY0);
      n0_1_1 = select(f32(), n0_1_1, inX1 && inY0);
      n0_0_2 = select(f32(), n0_0_2, inX1 && inY_1);
      n0_2_0 = select(f32(), n0_2_0, inX1 && inY1);
      n0_2_2 = select(f32(), n0_2_2, inX2 && inY0);
      n0_1_3 = select(f32(), n0_1_3, inX2 && inY_1);
      n0_3_1 = select(f32(), n0_3_1, inX2 && inY1);
      n0_3_3 = select(f32(), n0_3_3, inX3 && inY0);
    }
    if (odd) {
      now[base] = n0_0_0;
      now[base + SLICE_T] = n0_1_1;
      now[base + SLICE_T - PITCH_T] = n0_0_2;
      now[base + SLICE_T + PITCH_T] = n0_2_0;
      now[base + 2 * SLICE_T - PITCH_T] = n0_1_3;
      now[base + 2 * SLICE_T + PITCH_T] = n0_3_1;
    } else {
      before[base] = n0_0_0;
      before[base + SLICE_T] = n0_1_1;
      before[base + SLICE_T - PITCH_T] = n0_0_2;
      before[base + SLICE_T + PITCH_T] = n0_2_0;
      before[base + 2 * SLICE_T - PITCH_T] = n0_1_3;
      before[base + 2 * SLICE_T + PITCH_T] = n0_3_1;
    }
    x += S;
    base += S * SLICE_T;
    g_0_0 = f_1_1;
    g_1_1 = f_2_2;
    g_0_2 = l0_1_3;
    g_2_0 = l0_3_1;
    g_2_2 = l0_3_3;
    g_1_3 = l0_2_4;
    g_3_1 = l0_4_2;
    g_3_3 = l0_4_4;
    f_m1_m1 = n0_0_0;
    f_0_0 = n0_1_1;
    f_m1_1 = n0_0_2;
    f_1_m1 = n0_2_0;
    f_1_1 = n0_2_2;
    f_0_2 = n0_1_3;
    f_2_0 = n0_3_1;
    f_2_2 = n0_3_3;
    m_1_0_0 = m0n_1_0_0;
    m_1_0_2 = m0n_1_0_2;
    m_1_1_1 = m0n_1_1_1;
    m_1_2_0 = m0n_1_2_0;
    m_1_1_3 = m0n_1_1_3;
    m_1_2_2 = m0n_1_2_2;
    m_1_3_1 = m0n_1_3_1;
    m_1_3_3 = m0n_1_3_3;
  }
  if (row.tiers % 2 == 1) {
    before[base + SLICE_T] = f_1_1;
    before[base + 2 * SLICE_T] = f_2_2;
    now[base] = g_0_0;
    now[base + SLICE_T] = g_1_1;
  } else {
    now[base + SLICE_T] = f_1_1;
    now[base + 2 * SLICE_T] = f_2_2;
    before[base] = g_0_0;
    before[base + SLICE_T] = g_1_1;
  }
}
