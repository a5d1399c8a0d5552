// Kuramoto-Sivashinsky equation, 5 points: middle phase of the swept rule, 8 points a thread in registers.
const NODE = 256; const PITCH = 448;
const THREADS = 32; const POINTS = 8; const ROWS = 2; // of half a lozenge
const LEVELS = 8; const FLAT = THREADS - LEVELS;
const W0 = 0.6700000166893005f;
const W1 = 0.22499999403953552f;
const W2 = -0.0018749999580904841f;
const W3 = -0.06000000238418579f;
const W4 = -0.6600000262260437f;
const W5 = 0.45000001788139343f;
const W6 = -0.0037499999161809683f;
const W7 = -0.12000000476837158f;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;
const ORIGIN = 8;
struct Phase { odd: i32, readAt: i32, writeAt: i32, lastRow: i32, fromNow: i32, second: i32, nodes: i32, points: i32, plane: i32 }
@group(0) @binding(2) var<uniform> phase: Phase;
@group(0) @binding(3) var<storage, read_write> stored: array<f32>;

fn onLine(z: i32) -> i32 { return select(z, z + phase.points, z < 0); }
// the edges between levels, in two halves by turns, and the store
var<workgroup> pool: array<array<f32, 3 * THREADS>, 8>;

@compute @workgroup_size(32)
fn main(
  @builtin(local_invocation_index) thread: u32,
  @builtin(workgroup_id) w: vec3u,
  @builtin(num_workgroups) groups: vec3u,
) {
  let nodes = phase.nodes;
  let node = i32(w.x + w.y * groups.x);
  if (node >= nodes) { return; }
  let begin = node * PITCH + (1 - phase.odd) * (PITCH / 2) - NODE / 2;
  // the neighbours' edges: the right ones of the node before, the left ones of the node behind
  let nodeBefore = select(node + nodes - 1, node, phase.odd == 0) % nodes;
  let nodeBehind = select(node, node + 1, phase.odd == 0) % nodes;
  let t = i32(thread);
  // an array of edges holds value 0 of all threads' edges, then value 1, …
  let columns = nodes * THREADS; let edges = 8 * columns;
  var own0 = 0.0f;
  var own1 = 0.0f;
  var own2 = 0.0f;
  var own3 = 0.0f;
  var own4 = 0.0f;
  var own5 = 0.0f;
  var own6 = 0.0f;
  var own7 = 0.0f;
  {
    let behind = phase.readAt + nodeBehind * THREADS + t - FLAT;
    let ownAt = select(behind, phase.writeAt + node * THREADS + t + LEVELS, t < FLAT);
    let side = select(phase.writeAt + node * THREADS, phase.readAt + nodeBefore * THREADS, t < LEVELS);
    let storeAt = edges + side + t;
    own0 = stored[ownAt];
    own1 = stored[ownAt + columns];
    own2 = stored[ownAt + 2 * columns];
    own3 = stored[ownAt + 3 * columns];
    own4 = stored[ownAt + 4 * columns];
    own5 = stored[ownAt + 5 * columns];
    own6 = stored[ownAt + 6 * columns];
    own7 = stored[ownAt + 7 * columns];
    pool[0][2 * THREADS + t] = stored[storeAt];
    pool[1][2 * THREADS + t] = stored[storeAt + columns];
    pool[2][2 * THREADS + t] = stored[storeAt + 2 * columns];
    pool[3][2 * THREADS + t] = stored[storeAt + 3 * columns];
    pool[4][2 * THREADS + t] = stored[storeAt + 4 * columns];
    pool[5][2 * THREADS + t] = stored[storeAt + 5 * columns];
    pool[6][2 * THREADS + t] = stored[storeAt + 6 * columns];
    pool[7][2 * THREADS + t] = stored[storeAt + 7 * columns];
  }
  storageBarrier(); // other threads read a node's own flat than write it
  workgroupBarrier();
  for (var m = 0; m < 16; m++) {
    if (t <= m + FLAT && m < t + LEVELS) {
      let across = select((m & 1) * THREADS + t, 2 * THREADS + m - LEVELS + 1, t == THREADS - 1);
      let to = select(across, 2 * THREADS + t, m == 2 * LEVELS - 1);
      let neighbour = select(((m - 1) & 1) * THREADS + t - 1, 2 * THREADS + LEVELS + t - 1, m == 0);
      let source = select(neighbour, 2 * THREADS + m, t == 0);
      let in0 = pool[0][source];
      let in1 = pool[1][source];
      let in2 = pool[2][source];
      let in3 = pool[3][source];
      let in4 = pool[4][source];
      let in5 = pool[5][source];
      let in6 = pool[6][source];
      let in7 = pool[7][source];
      let e1_2_0 = in3;
      let e1_2_1 = in1;
      let v1_2 = W0 * in2 + (e1_2_0 + e1_2_1) * (W1 + W2 * (e1_2_0 - e1_2_1)) + W3 * (own0 + in0);
      let e1_3_0 = own0;
      let e1_3_1 = in2;
      let v1_3 = W0 * in3 + (e1_3_0 + e1_3_1) * (W1 + W2 * (e1_3_0 - e1_3_1)) + W3 * (own1 + in1);
      let e1_4_0 = own1;
      let e1_4_1 = in3;
      let v1_4 = W0 * own0 + (e1_4_0 + e1_4_1) * (W1 + W2 * (e1_4_0 - e1_4_1)) + W3 * (own2 + in2);
      let e1_5_0 = own2;
      let e1_5_1 = own0;
      let v1_5 = W0 * own1 + (e1_5_0 + e1_5_1) * (W1 + W2 * (e1_5_0 - e1_5_1)) + W3 * (own3 + in3);
      let e2_0_0 = in7;
      let e2_0_1 = in5;
      let v2_0 = in0 + (W4 * in6 + (e2_0_0 + e2_0_1) * (W5 + W6 * (e2_0_0 - e2_0_1)) + W7 * (v1_2 + in4));
      let e2_1_0 = v1_2;
      let e2_1_1 = in6;
      let v2_1 = in1 + (W4 * in7 + (e2_1_0 + e2_1_1) * (W5 + W6 * (e2_1_0 - e2_1_1)) + W7 * (v1_3 + in5));
      let e2_2_0 = v1_3;
      let e2_2_1 = in7;
      let v2_2 = in2 + (W4 * v1_2 + (e2_2_0 + e2_2_1) * (W5 + W6 * (e2_2_0 - e2_2_1)) + W7 * (v1_4 + in6));
      let e2_3_0 = v1_4;
      let e2_3_1 = v1_2;
      let v2_3 = in3 + (W4 * v1_3 + (e2_3_0 + e2_3_1) * (W5 + W6 * (e2_3_0 - e2_3_1)) + W7 * (v1_5 + in7));
      let e2_4_0 = v1_5;
      let e2_4_1 = v1_3;
      let v2_4 = own0 + (W4 * v1_4 + (e2_4_0 + e2_4_1) * (W5 + W6 * (e2_4_0 - e2_4_1)) + W7 * (own4 + v1_2));
      let e2_5_0 = own4;
      let e2_5_1 = v1_4;
      let v2_5 = own1 + (W4 * v1_5 + (e2_5_0 + e2_5_1) * (W5 + W6 * (e2_5_0 - e2_5_1)) + W7 * (own5 + v1_3));
      let e2_6_0 = own5;
      let e2_6_1 = v1_5;
      let v2_6 = own2 + (W4 * own4 + (e2_6_0 + e2_6_1) * (W5 + W6 * (e2_6_0 - e2_6_1)) + W7 * (own6 + v1_4));
      let e2_7_0 = own6;
      let e2_7_1 = own4;
      let v2_7 = own3 + (W4 * own5 + (e2_7_0 + e2_7_1) * (W5 + W6 * (e2_7_0 - e2_7_1)) + W7 * (own7 + v1_5));
      own0 = v2_0;
      pool[0][to] = v2_4;
      own1 = v2_1;
      pool[1][to] = v2_5;
      own2 = v2_2;
      pool[2][to] = v2_6;
      own3 = v2_3;
      pool[3][to] = v2_7;
      let e3_2_0 = v2_3;
      let e3_2_1 = v2_1;
      let v3_2 = W0 * v2_2 + (e3_2_0 + e3_2_1) * (W1 + W2 * (e3_2_0 - e3_2_1)) + W3 * (v2_4 + v2_0);
      let e3_3_0 = v2_4;
      let e3_3_1 = v2_2;
      let v3_3 = W0 * v2_3 + (e3_3_0 + e3_3_1) * (W1 + W2 * (e3_3_0 - e3_3_1)) + W3 * (v2_5 + v2_1);
      let e3_4_0 = v2_5;
      let e3_4_1 = v2_3;
      let v3_4 = W0 * v2_4 + (e3_4_0 + e3_4_1) * (W1 + W2 * (e3_4_0 - e3_4_1)) + W3 * (v2_6 + v2_2);
      let e3_5_0 = v2_6;
      let e3_5_1 = v2_4;
      let v3_5 = W0 * v2_5 + (e3_5_0 + e3_5_1) * (W1 + W2 * (e3_5_0 - e3_5_1)) + W3 * (v2_7 + v2_3);
      own4 = v3_2;
      pool[4][to] = v3_2;
      own5 = v3_3;
      pool[5][to] = v3_3;
      own6 = v3_4;
      pool[6][to] = v3_4;
      own7 = v3_5;
      pool[7][to] = v3_5;
    }
    workgroupBarrier();
  }
  let left = phase.writeAt + node * THREADS + t; let right = left + edges;
  stored[left] = own0;
  stored[left + columns] = own1;
  stored[left + 2 * columns] = own2;
  stored[left + 3 * columns] = own3;
  stored[left + 4 * columns] = own4;
  stored[left + 5 * columns] = own5;
  stored[left + 6 * columns] = own6;
  stored[left + 7 * columns] = own7;
  stored[right] = pool[0][2 * THREADS + t];
  stored[right + columns] = pool[1][2 * THREADS + t];
  stored[right + 2 * columns] = pool[2][2 * THREADS + t];
  stored[right + 3 * columns] = pool[3][2 * THREADS + t];
  stored[right + 4 * columns] = pool[4][2 * THREADS + t];
  stored[right + 5 * columns] = pool[5][2 * THREADS + t];
  stored[right + 6 * columns] = pool[6][2 * THREADS + t];
  stored[right + 7 * columns] = pool[7][2 * THREADS + t];
}
