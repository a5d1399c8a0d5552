// heat conduction in a rod: finish phase of the swept rule, 4 points a thread in registers.
const NODE = 128; const PITCH = 128;
const THREADS = 32; const POINTS = 4; const ROWS = 2; // of half a lozenge
const LEVELS = 32; const FLAT = THREADS - LEVELS;
const W0 = 0.44999998807907104f;
const W1 = 0.10000002384185791f;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;
const ORIGIN = 8;
struct Phase { odd: i32, readAt: i32, writeAt: i32, lastRow: i32, fromNow: i32, second: i32, nodes: i32, points: i32, plane: i32 }
@group(0) @binding(2) var<uniform> phase: Phase;
@group(0) @binding(3) var<storage, read_write> stored: array<f32>;

fn onLine(z: i32) -> i32 { return select(z, z + phase.points, z < 0); }
// the edges between levels, in two halves by turns, and the store
var<workgroup> pool: array<array<f32, 3 * THREADS>, 4>;

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
  let columns = nodes * THREADS; let edges = 4 * columns;
  var own0 = 0.0f;
  var own1 = 0.0f;
  var own2 = 0.0f;
  var own3 = 0.0f;
  {
    let behind = phase.readAt + nodeBehind * THREADS + t - FLAT;
    let ownAt = select(behind, phase.writeAt + node * THREADS + t + LEVELS, t < FLAT);
    let side = select(phase.writeAt + node * THREADS, phase.readAt + nodeBefore * THREADS, t < LEVELS);
    let storeAt = edges + side + t;
    own0 = stored[ownAt];
    own1 = stored[ownAt + columns];
    own2 = stored[ownAt + 2 * columns];
    own3 = stored[ownAt + 3 * columns];
    pool[0][2 * THREADS + t] = stored[storeAt];
    pool[1][2 * THREADS + t] = stored[storeAt + columns];
    pool[2][2 * THREADS + t] = stored[storeAt + 2 * columns];
    pool[3][2 * THREADS + t] = stored[storeAt + 3 * columns];
  }
  workgroupBarrier();
  for (var m = 0; m < 63 && m * ROWS < phase.lastRow; m++) {
    if (t <= m + FLAT && m < t + LEVELS) {
      let across = select((m & 1) * THREADS + t, 2 * THREADS + m - LEVELS + 1, t == THREADS - 1);
      let to = select(across, 2 * THREADS + t, m == 2 * LEVELS - 1);
      let leftmost = begin + t * POINTS + (LEVELS - 1 - m) * (POINTS / 2);
      let isFirst = leftmost == 0; let isSplit = leftmost == -(POINTS / 2);
      let isLast = leftmost == -POINTS || leftmost == phase.points - POINTS;
      let last = phase.lastRow - m * ROWS;
      let low = ORIGIN + onLine(leftmost); let high = ORIGIN + onLine(leftmost + POINTS / 2) - POINTS / 2;
      let neighbour = select(((m - 1) & 1) * THREADS + t - 1, 2 * THREADS + LEVELS + t - 1, m == 0);
      let source = select(neighbour, 2 * THREADS + m, t == 0);
      let in0 = pool[0][source];
      let in1 = pool[1][source];
      let in2 = pool[2][source];
      let in3 = pool[3][source];
      if (last >= 1) {
        let v1_1 = W0 * (in0 + select(own0, in0, isSplit)) + W1 * in1;
        let v1_2 = W0 * (select(in1, own1, isSplit) + own1) + W1 * own0;
        if (last < 2) {
          before[low + 1] = v1_1;
          before[high + 2] = v1_2;
        }
        if (last >= 2) {
          let v2_0 = W0 * (select(in2, v1_1, isFirst) + v1_1) + W1 * in3;
          let v2_1 = W0 * (in3 + select(v1_2, in3, isSplit)) + W1 * v1_1;
          let v2_2 = W0 * (select(v1_1, own2, isSplit) + own2) + W1 * v1_2;
          let v2_3 = W0 * (v1_2 + select(own3, v1_2, isLast)) + W1 * own2;
          if (last < 3) {
            before[low] = v2_0;
            before[low + 1] = v2_1;
            before[high + 2] = v2_2;
            before[high + 3] = v2_3;
          }
          own0 = v2_0;
          pool[0][to] = v2_2;
          own1 = v2_1;
          pool[1][to] = v2_3;
          if (last >= 3) {
            let v3_1 = W0 * (v2_0 + select(v2_2, v2_0, isSplit)) + W1 * v2_1;
            let v3_2 = W0 * (select(v2_1, v2_3, isSplit) + v2_3) + W1 * v2_2;
            if (last < 4) {
              before[low + 1] = v3_1;
              before[high + 2] = v3_2;
            }
            own2 = v3_1;
            pool[2][to] = v3_1;
            own3 = v3_2;
            pool[3][to] = v3_2;
          }
        }
      }
    }
    workgroupBarrier();
  }
  let left = phase.writeAt + node * THREADS + t; let right = left + edges;
  stored[left] = own0;
  stored[left + columns] = own1;
  stored[left + 2 * columns] = own2;
  stored[left + 3 * columns] = own3;
  stored[right] = pool[0][2 * THREADS + t];
  stored[right + columns] = pool[1][2 * THREADS + t];
  stored[right + 2 * columns] = pool[2][2 * THREADS + t];
  stored[right + 3 * columns] = pool[3][2 * THREADS + t];
}
