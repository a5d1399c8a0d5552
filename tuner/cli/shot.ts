import {
  cellsOf,
  describeGrid,
  type Grid,
  type OwnGrid,
  ownOf,
  planned,
  type Stencil,
} from "../../kernels/stencils/stencil.ts";
import { WAVE_ORDERS } from "../../kernels/stencils/wave.ts";
import { type FileArray, readArray, writeBytes } from "../files/array.ts";
import { SEGY } from "../files/segy.ts";
import { joined, transposed } from "../files/npy.ts";
import { formatDuration, formatPercent, formatPlural, formatRate } from "../format.ts";
import { defaultSteps } from "../problem/default_problem.ts";
import { RequestError } from "../problem/request_error.ts";
import { checkProblem } from "../problem/resolve_problem.ts";
import { describeConfiguration } from "../profile/describe.ts";
import { checkFileWritable, readProfile } from "../profile/store.ts";
import { chooseForRank } from "../solver/open_on_ranks.ts";
import type { OpenedDevice } from "../ranks/open_rank_device.ts";
import type { World } from "../devices/world.ts";
import { layeredModel, modelOf, type VelocityModel } from "../shot/model.ts";
import { drawGather, drawWave } from "../shot/plots.ts";
import { MOST_IN_HEADER, segyScale } from "../shot/segy.ts";
import { putShot, takeShot, traceBytes, unfinished } from "../shot/trace_files.ts";
import { hashOfAll, hasReceipt, withReceipt } from "../shot/receipt.ts";
import { type Recorded, shoot, type ShotPlan, stepsOf } from "../shot/shoot.ts";
import { VERSION } from "../version.ts";
import {
  acoustic,
  acousticEdges,
  type AcousticOptions,
  acousticScheme,
  type AcousticShot,
  acousticTimeStep,
} from "../../kernels/stencils/acoustic.ts";
import {
  elastic,
  elasticEdges,
  elasticScheme,
  elasticTimeStep,
  lameOf,
} from "../../kernels/stencils/elastic.ts";
import { type Scheme, stepOf, warningOf } from "../../kernels/stencils/dispersion.ts";
import { createSolver } from "../solver/create_solver.ts";
import { AttendedRun } from "./attended_run.ts";
import { onRanks } from "./on_ranks.ts";
import type { EarlierValues, Options, Reader, Refuse, Values as ValuesOf } from "./options.ts";
import {
  COMMON,
  count,
  input,
  number,
  oneOf,
  output,
  readBudget,
  readText,
  sidesOf,
  wrongValue,
} from "./options.ts";
import { EXIT } from "./report_error.ts";
import {
  decimal,
  isLine,
  readFile,
  readNumbers,
  readPlace,
  readPlaces,
  readReceivers,
  readSignature,
  shotFiles,
} from "./shot_places.ts";
import { edgesNote, headerOf, oddUnits } from "./shot_words.ts";
import { DEVICE_OPTIONS, RANK_OPTIONS, requestOf } from "./solve.ts";
import { print, say } from "./terminal.ts";

/** Hertz of the wavelet unless given: S waves are slower. */
const FREQUENCY = { acoustic: 15, elastic: 8 } as const;

/** Reads a number above 0, with this unit or none. */
const quantity = (unit: "Hz" | "m", more = ""): Reader<number> => (text, refuse, earlier) => {
  const read = number(`a number above 0, in ${unit}${more}`, (value) => value > 0);
  return read(text.endsWith(unit) ? text.slice(0, -unit.length) : text, (wanted) => refuse(wanted), earlier);
};

/** Names of files of a model. */
const MODEL = /\.(?:npy|se?gy)$/i;

/** What takes a number or a file of a model. */
const modelFile = { read: readText, reads: (text: string) => MODEL.test(text) ? [text] : [] };

type FileValues = Parameters<typeof shotFiles>[0];

export const OPTIONS = {
  stencil: {
    value: "NAME",
    help: "what is computed: acoustic, or elastic, with velocities along each axis",
    read: oneOf(["acoustic", "elastic"] as const),
    default: "acoustic",
  },
  velocity: {
    value: "layered|FILE",
    help: "the model: the built-in one, or m/s along x, y, z or x, z in a .npy or .sgy file",
    read: readText,
    reads: (text: string) => text === "layered" ? [] : [text],
    default: "layered",
  },
  velocityS: {
    value: "M/S|FILE",
    help: "velocity of S waves, 0 in water: a number, or a .npy file (default: --velocity / √3)",
    ...modelFile,
    onlyWith: { "--stencil elastic": "sound has one velocity" },
  },
  density: {
    value: "KG/M3|FILE",
    help: "a number, or a .npy file (default: acoustic, 1; elastic, Gardner's 310 times --velocity to the ¼)",
    ...modelFile,
  },
  orderOfAxes: {
    value: "zx|zyx|...",
    help: "the axes of all files of models, first to last (default: xz or xyz)",
    read: oneOf(["xz", "zx", "xyz", "xzy", "yxz", "yzx", "zxy", "zyx"] as const),
  },
  grid: {
    value: "XxYxZ|XxZ|N",
    help: "cells of the built-in model (default: 96), in two dimensions along x and z",
    read: sidesOf(3, 2),
  },
  spacing: {
    value: "M",
    help: "metres from cell to cell, alike along all axes",
    read: quantity("m", ", one for all axes"),
    default: "10",
  },
  order: {
    value: "N",
    help: "order in space",
    read: oneOf(WAVE_ORDERS.map(String)),
    default: "4",
    notWith: { "--stencil elastic": "its order is 4" },
  },
  timeStep: {
    value: "TIME|PERCENT",
    help:
      "such as 1ms, or what it may change the wavelet by, through the model, such as 2% (default: 0.9 of the largest stable one)",
    read: readStep,
  },
  time: { value: "TIME", help: "how long to record, such as 2s", read: readSeconds, default: "1s" },
  origin: {
    value: "X,Y|X",
    help:
      "where the model begins, such as in UTM: places, also those in SEG-Y, are counted alike (default: 0)",
    read: readNumbers(1, 2, "X,Y or X in metres"),
  },
  source: {
    value: "X,Y,Z|X,Z",
    help: "in metres, z downwards (default: in the middle, at the top)",
    read: readPlace,
  },
  explosion: {
    help: "the source pushes alike along all axes, instead of a force downwards",
    onlyWith: { "--stencil elastic": "a source of sound does" },
  },
  hydrophones: {
    help: "receivers record the pressure as well, in Pa",
    onlyWith: { "--stencil elastic": "receivers of sound do" },
  },
  shots: {
    ...input("sources of several shots, a line X,Y,Z each; the files written are numbered"),
    read: (path: string) => readPlaces(path),
    notWith: { "--source": "the file has the sources" },
  },
  receivers: {
    value: "X,Y,Z|line:X,Y,Z:X,Y,Z:N|FILE",
    help:
      "one, N from one place to the other, or a file with a line X,Y,Z each (default: along x, at the top)",
    read: readReceivers,
    reads: (text: string) => isLine(text) ? [] : [text],
  },
  frequency: {
    value: "HZ",
    help:
      `the peak of the source's Ricker wavelet (default: ${FREQUENCY.acoustic}, elastic ${FREQUENCY.elastic})`,
    read: quantity("Hz"),
  },
  wavelet: {
    ...input("what the source sends instead: a number for each time step, in lines or as .npy"),
    onlyWith: { "--time-step": "it has a number for each" },
  },
  delay: {
    value: "TIME",
    help: "how much later than the first step it begins, a whole number of time steps",
    read: readSeconds,
    onlyWith: { "--wavelet": "Ricker's begins by itself" },
  },
  edges: {
    value: "N|pmlN",
    help:
      "cells of absorbing edges around the model, pml12 of a PML (default: 1.7 wavelengths of sound, 2.3 of elastic waves)",
    read: readEdges,
  },
  surface: {
    value: "NAME",
    help: "the top of the model: absorbing or free",
    read: oneOf(["absorbing", "free"] as const),
    default: "absorbing",
  },
  out: {
    ...output("picture of the traces to write", (_, values) => {
      return shotFiles(values as unknown as FileValues).flatMap(({ picture, waves }) => [picture, ...waves]);
    }),
    read: ending("png"),
    default: "shot.png",
  },
  traces: {
    ...output("traces to write: .npy, or SEG-Y, .sgy", (_, values) => {
      return shotFiles(values as unknown as FileValues).flatMap(({ traces }) => traces);
    }),
    read: ending("npy", "sgy", "segy"),
  },
  oneFile: {
    help: "the traces of all shots are in one file, as .npy shots x receivers x samples",
    onlyWith: { "--shots": "a single shot has one", "--traces": "it has them" },
  },
  sample: { value: "TIME", help: "from sample to sample, such as 2ms (default: a step)", read: readSeconds },
  snapshots: { ...count("pictures of the wave to write, evenly spaced in time", 0, 1000), default: "0" },
  resume: { help: "leave out the shots whose files are there, whole and of this very request" },
  ...DEVICE_OPTIONS,
  quiet: COMMON.quiet,
} as const satisfies Options;

type Values = ValuesOf<typeof OPTIONS>;

/** A number by cell. */
type ValueAt = VelocityModel["at"];

export const run = (args: string[]): Promise<number> =>
  onRanks("shot", args, {
    usage: "deno task shot [OPTIONS]",
    about:
      "Sends a wave into a velocity model and records it. Under mpirun each rank takes some of the shots.",
    options: OPTIONS,
    read: readRequest,
    work: shootAll,
  });

async function readRequest(options: Values) {
  const { velocity: path, velocityS, density, explosion, hydrophones, spacing, surface } = options;
  const { shots, snapshots: waves, profile, frequency = FREQUENCY[options.stencil] } = options;
  const { precision = "f32" } = options;
  const { orderOfAxes: order, origin } = options, isBuiltIn = path === "layered", notes: string[] = [];
  const read = async (path: string): Promise<FileArray> => {
    const array = await readArray(path, { precision }), { converted, shape } = array;
    if (converted !== undefined) notes.push(`${path}: values of type ${converted} became ${precision}`);
    if (order === undefined) return array;
    if (order.length === shape.length) {
      return transposed(array, [...order].sort().map((axis) => order.indexOf(axis)));
    }
    throw wrongValue("order-of-axes", `the axes of ${path}, ${shape.length}`, order);
  };
  if (order && isBuiltIn && ![velocityS, density].some((one) => one && MODEL.test(one))) {
    throw new RequestError("Cannot use --order-of-axes without a file of a model");
  }
  const model = isBuiltIn ? layeredModel(options.grid ?? [96, 96, 96]) : modelOf(await read(path), path);
  const { grid: [nx, ny, nz], dimensions } = model, grid = ownOf(model, model.grid);
  if (`${options.grid ?? grid}` !== `${grid}`) {
    throw wrongValue("grid", `${grid.join("x")}, the shape of ${path}`, options.grid!.join("x"));
  }
  // as decimals have it: (26 + ½)·0.3 is 7.95
  const metres = (i: number): number => Number(((i + 0.5) * spacing).toPrecision(12)), slack = 1e-6 * spacing;
  const corner = [...origin ?? [0, 0].slice(3 - dimensions), 0];
  if (corner.length !== dimensions) {
    throw wrongValue("origin", `${dimensions === 2 ? "X" : "X,Y"} in metres`, `${origin}`);
  }
  const centre = (...cell: Grid) =>
    ownOf(model, cell).map((i, axis) => metres(i) + corner[axis]!) as readonly number[] as OwnGrid;
  const y = Math.floor(ny / 2), z = Math.min(2, nz - 1);
  const { source = centre(Math.floor(nx / 2), y, z) } = options;
  const first = centre(0, 0, 0), high = centre(nx - 1, ny - 1, nz - 1);
  const isFree = surface === "free", low = isFree ? first.with(-1, 0) : first;
  const axes = dimensions === 2 ? "X,Z" : "X,Y,Z";
  const placed = (name: string, places: readonly OwnGrid[]): Grid[] =>
    places.map((at) => {
      if (at.length !== dimensions) throw wrongValue(name, `${axes} in metres`, `${at}`);
      const isOutside = at.some((x, axis) => x < low[axis]! - slack || x > high[axis]! + slack);
      const ends = `the outermost cells${isFree ? " and the surface" : ""}`;
      if (isOutside) throw wrongValue(name, `places from ${low} to ${high} m, where ${ends} are`, `${at}`);
      if (isFree && options.stencil === "acoustic" && at.at(-1) === 0) {
        throw wrongValue(name, "places below a free surface, on which p is 0", `${at}`);
      }
      return planned(model, at.map((x, axis) => x - corner[axis]!), 0);
    });
  const [named, given] = shots ? ["shots", shots] as const : ["source", [source]] as const;
  const sources = placed(named, given);
  const row = Array.from({ length: nx }, (_, x) => centre(x, y, z));
  const receivers = placed("receivers", options.receivers ?? row);
  const [cornerX, cornerY] = planned(model, corner, 0);
  const fromOrigin = ([x, y, z]: Grid): Grid => [x + cornerX, y + cornerY, z];
  if (SEGY.test(options.traces ?? "")) segyScale([...sources, ...receivers].map(fromOrigin));
  const space = { velocity: [model.least, model.most], spacing, dimensions } as const;
  const medium = { ...space, order: Number(options.order), frequency };
  const rho = await givenModel(density, "density", { model, read });
  const slow = await givenModel(velocityS, "velocity-s", { model, read });
  const odd = oddUnits({ model, frequency, spacing }, slow, rho);
  const wave = options.stencil === "elastic"
    ? elasticIn(model, { ...medium, explosion, hydrophones }, slow, rho)
    : soundIn(model, medium, rho);
  const { materials, sent, recorded, late } = wave;
  const { edges, absorber } = options.edges ?? { edges: wave.edges, absorber: "matched" };
  const distance = Math.min(Math.max(...grid) * spacing, wave.slowest * options.time);
  const step = stepWanted(wave, options.timeStep, { frequency, distance });
  const way = { frequency, distance, velocity: wave.slowest };
  const warning = warningOf({ ...wave.scheme, timeStep: step }, way);
  const timing = timingOf(step, frequency, options, ["", ...odd].join("; "));
  const stencil = wave.stencil({ ...space, timeStep: timing.timeStep, edges, absorber, surface });
  const { delay = 0 } = options, silent = delay / timing.timeStep;
  if (delay >= options.time || Math.abs(silent - Math.round(silent)) > 1e-6) {
    const wanted = `less than --time, in steps of ${formatDuration(timing.timeStep * 1e9)}`;
    throw wrongValue("delay", wanted, formatDuration(delay * 1e9));
  }
  const sends = (values: ArrayLike<number>) => [...Array(Math.round(silent)).fill(0), ...Array.from(values)];
  const wavelet = options.wavelet && sends(await readSignature(options.wavelet));
  const sending = { sent, recorded, late, ...(wavelet && { wavelet }) };
  const plan: ShotPlan = { model, spacing, frequency, ...timing, ...sending, receivers, waves };
  const problem = checkProblem("shoot", {
    stencil,
    grid: ownOf(model, model.grid),
    boundary: "zero",
    edges: edges === 0 ? "within" : "around",
    precision,
    steps: Math.min(stepsOf(plan), defaultSteps(stencil)),
    survey: { sources: sent.length, receivers: receivers.length },
  });
  const files = shotFiles(options, recorded.map(({ name }) => name));
  const edgesPart = 1 - cellsOf(model.grid) / cellsOf(problem.grid);
  // whatever traces depend on
  const models = [isBuiltIn ? "" : path, velocityS ?? "", density ?? ""].map(async (text) =>
    decimal(text) >= 0 || text === "" ? text : hashOfAll(await readFile(text))
  );
  const asked = [VERSION, requestOf(problem, {}), plan, order, corner, await Promise.all(models)];
  const made = { edges, absorber, edgesPart, hash: JSON.stringify(asked), plan, fromOrigin };
  const profiles = profile === undefined ? [] : [await readProfile(profile)];
  const alike = Object.entries(options).filter(([name]) => !(name in RANK_OPTIONS));
  return {
    request: requestOf(problem, Object.fromEntries(alike)),
    async check() {
      for (const path of files.flatMap((file) => Object.values(file).flat())) await checkFileWritable(path);
      const isNoted = options.edges === undefined && edgesPart > 0.5;
      const note = isNoted ? edgesNote(edges, model.grid, problem.grid, surface) : undefined;
      for (const line of [...notes, ...odd, warning, note]) if (line !== undefined) say(`facet: ${line}`);
    },
    values: { ...options, ...made, materials, problem, sources, files, profiles },
  };
}

/** When traces are sampled; SEG-Y has whole microseconds. `odd`: what may be the reason why they cannot be. */
function timingOf(timeStep: number, frequency: number, { sample, time, traces }: Values, odd: string) {
  const isSegy = SEGY.test(traces ?? ""), coarsest = 1 / (6 * frequency);
  const step = formatDuration(timeStep * 1e9);
  if (sample === undefined && timeStep > coarsest) {
    const most = (0.995 / (6 * timeStep)).toPrecision(3);
    const wanted = `at most ${most} Hz, 6 time steps of ${step} a period${odd}`;
    throw wrongValue("frequency", wanted, `${frequency}`);
  }
  if (isSegy && sample === undefined && timeStep < 1e-6) {
    throw wrongValue("traces", "a --sample, or .npy: SEG-Y has whole microseconds", `a time step of ${step}`);
  }
  const interval = sample ?? (isSegy ? Math.min(Math.floor(timeStep * 1e6), MOST_IN_HEADER) / 1e6 : timeStep);
  const samples = Math.floor(time / interval + 1e-6) + 1, us = interval * 1e6;
  const isHeld = us > 0.9 && Math.abs(us - Math.round(us)) < 1e-6 && Math.max(us, samples) <= MOST_IN_HEADER;
  if (interval <= coarsest && (isHeld || !isSegy)) return { timeStep, interval, samples };
  const wanted = isSegy ? `, and in SEG-Y whole microseconds and samples, from 1 to ${MOST_IN_HEADER}` : "";
  const found = `${us} µs, ${formatPlural(samples, "sample")}`;
  throw wrongValue("sample", `at most ${formatDuration(coarsest * 1e9)} for ${frequency} Hz${wanted}`, found);
}

/** Numbers on the model's grid, from a file, or one everywhere; undefined where nothing is given. */
async function givenModel(
  given: string | undefined,
  option: "density" | "velocity-s",
  { model, read }: { readonly model: VelocityModel; readonly read: typeof readArray },
): Promise<VelocityModel | undefined> {
  if (given === undefined) return undefined;
  const number = decimal(given), orZero = option === "velocity-s";
  const wanted = orZero ? "velocities from 0 on, in m/s," : "densities above 0, in kg/m³,";
  if ((number > 0 || orZero && number === 0) && number < Infinity) {
    return { ...model, least: number, most: number, at: () => number };
  }
  if (!MODEL.test(given)) throw wrongValue(option, `${wanted} as a number or a .npy or .sgy file`, given);
  const found = modelOf(await read(given), given, `${wanted} are wanted`, orZero);
  const [wants, has] = [model, found].map((volume) => ownOf(volume, volume.grid).join("x"));
  if (wants === has) return found;
  throw wrongValue(option, `${wants}, the shape of --velocity`, has!);
}

/** What a shot needs of its equation. */
interface Wave extends Pick<ShotPlan, "sent" | "recorded" | "late"> {
  readonly materials: Readonly<Record<string, ValueAt>>;
  /** The lowest velocity of waves in m/s. */
  readonly slowest: number;
  /** Cells of edges that are wide enough. */
  readonly edges: number;
  /** Seconds. */
  readonly longestStep: number;
  stencil(made: AcousticOptions): Stencil;
  readonly scheme: Scheme;
}

/** The time step that is asked for, in seconds. */
function stepWanted(
  { longestStep, scheme, slowest }: Wave,
  asked: Values["timeStep"],
  way: { readonly frequency: number; readonly distance: number },
): number {
  if (typeof asked !== "number") return stepOf(scheme, slowest, asked && { ...way, ...asked });
  if (asked <= longestStep) return asked;
  const most = `at most ${formatDuration(longestStep * 1e9)}, the largest stable one`;
  throw wrongValue("time-step", most, formatDuration(asked * 1e9));
}

function soundIn({ at, least }: VelocityModel, medium: AcousticShot, rho?: VelocityModel): Wave {
  return {
    materials: { velocity: at, ...(rho && { density: rho.at }) },
    slowest: least,
    scheme: acousticScheme(medium),
    edges: acousticEdges(medium),
    longestStep: acousticTimeStep(medium),
    stencil: (made) => acoustic({ ...made, order: medium.order, density: rho && [rho.least, rho.most] }),
    ...{ sent: ["s"], recorded: [{ name: "p", fields: ["p"], early: 0 }], late: 0 },
  };
}

function elasticIn(
  { grid: [nx, ny, nz], at: p, least, most }: VelocityModel,
  { explosion, hydrophones, ...medium }:
    & AcousticShot
    & Readonly<{ spacing: number; explosion: boolean; hydrophones: boolean }>,
  slow?: VelocityModel,
  rho?: VelocityModel,
): Wave {
  const s: ValueAt = slow?.at ?? ((x, y, z) => p(x, y, z) / Math.sqrt(3));
  const gardner = (v: number): number => 310 * v ** 0.25;
  const density: ValueAt = rho?.at ?? ((x, y, z) => gardner(p(x, y, z)));
  const dense = { density: [rho?.least ?? gardner(least), rho?.most ?? gardner(most)] } as const;
  let slowest = slow ? Infinity : least / Math.sqrt(3);
  for (let i = 0; slow && i < nx * ny * nz; i++) {
    const cell = [Math.floor(i / (ny * nz)), Math.floor(i / nz) % ny, i % nz] as const;
    const v = s(...cell), most = Math.sqrt(0.75) * p(...cell), wanted = "at most √¾ of --velocity,";
    if (v > most) throw wrongValue("velocity-s", `${wanted} ${Number(most.toPrecision(6))} m/s`, `${v}`);
    if (v > 0) slowest = Math.min(slowest, v);
  }
  if (slowest === Infinity) slowest = least; // no S waves
  const lame = (name: "lambda" | "mu"): ValueAt => (x, y, z) =>
    lameOf(p(x, y, z), s(x, y, z), density(x, y, z))[name];
  const axes = medium.dimensions === 2 ? ["x", "z"] : ["x", "y", "z"], mu = lame("mu");
  const pressure: Recorded = {
    name: "pressure",
    fields: axes.map((axis) => `s${axis}${axis}`),
    /** Minus the mean in Pa; in water, where all are alike, σzz, since a free surface mirrors it. */
    weights(place) {
      const [x, y, z] = place.map((metres) => Math.floor(metres / medium.spacing)),
        isWater = mu(x!, y!, z!) === 0;
      return axes.map((axis) => -1e6 * (isWater ? Number(axis === "z") : 1 / axes.length));
    },
    early: 0,
  };
  return {
    materials: { lambda: lame("lambda"), mu, density },
    slowest,
    scheme: elasticScheme({ ...medium, ...dense }),
    edges: elasticEdges(medium),
    longestStep: elasticTimeStep({ ...medium, ...dense }),
    stencil: (made) => elastic({ ...made, ...dense }),
    ...(explosion ? { sent: axes.map((axis) => `m${axis}${axis}`), late: 0.5 } : { sent: ["fz"], late: 0 }),
    recorded: [
      ...(hydrophones ? [pressure] : []),
      ...axes.map((axis) => ({ name: `v${axis}`, fields: [`v${axis}`], early: 0.5 })),
    ],
  };
}

type Shooting = Awaited<ReturnType<typeof readRequest>>["values"];

async function shootAll(world: World, device: OpenedDevice, options: Shooting): Promise<number> {
  const { plan, materials, problem, problem: { grid, stencil }, sources, files, profiles, json } = options;
  const { edges, absorber, edgesPart, fromOrigin, oneFile } = options,
    text = headerOf(plan, { ...options, title: stencil.title });
  const { model, timeStep, interval, samples } = plan, steps = stepsOf(plan);
  const isFirst = world.rank === 0, whole = options.resume && isFirst ? await wholeShots(options) : [];
  const shared = oneFile && isFirst ? files[0]!.traces : [];
  for (const path of shared) {
    // a file with shots of this request goes on
    if (whole.length === 0) await Deno.remove(unfinished(path)).catch(() => {});
    else await Deno.stat(unfinished(path)).catch(() => Deno.rename(path, unfinished(path)));
  }
  // the first has looked before anybody writes
  const [[...done] = []] = await world.shareAll(whole);
  const left = [...sources.entries()].filter(([shot]) => !done.includes(shot));
  const own = left.filter((_, i) => i % world.size === world.rank);
  const { configuration } = chooseForRank(profiles, problem, device);
  using solver = await createSolver(device.gpu?.device ?? null, problem, configuration);
  for (const [name, at] of Object.entries<ValueAt>(materials)) {
    await solver.write(name, model.dimensions === 2 ? (x, y) => at(x, 0, y) : at);
  }
  using attended = new AttendedRun({ quiet: options.quiet || !isFirst });
  const { progress, signal } = attended;
  const write = async (path: string, bytes: Uint8Array): Promise<string> => {
    await writeBytes(path, bytes);
    return hashOfAll(bytes);
  };
  const beganMs = performance.now(), total = own.length * steps;
  let ownNs = 0;
  for (const [i, [shot, source]] of own.entries()) {
    const { waves, picture, traces: tables } = files[shot]!, hashes: string[] = [];
    const shooting = shoot(solver, plan, source, {
      onSteps(step) {
        signal.throwIfAborted();
        const done = i * steps + step, leftNs = (performance.now() - beganMs) * 1e6 * (total / done - 1);
        progress.update({ stage: `shot ${shot + 1} of ${sources.length}`, done, total, leftNs });
      },
      async onWave(number, field, t) {
        hashes.push(await write(waves[number]!, await drawWave(field, plan, { source, t })));
      },
    });
    const found = await shooting.catch((error) => {
      if (!signal.aborted) throw error;
    });
    if (found === undefined) {
      const there = `${done.length + i} of ${formatPlural(sources.length, "shot")}`;
      if (isFirst) say(`facet: the files of ${there} are whole: --resume does the others`);
      return attended.exitCode;
    }
    const { traces, timeNs } = found;
    ownNs += timeNs;
    const title = `source at ${ownOf(model, source).join(", ")} m, ${plan.frequency} Hz`;
    for (const [field, path] of tables.entries()) {
      const trace = traces[field]!;
      const { name } = plan.recorded[field]!, count = oneFile ? sources.length : undefined;
      const which = count ? formatPlural(count, "shot") : `shot ${shot + 1} of ${sources.length}`;
      const placed = { interval, receivers: plan.receivers.map(fromOrigin) };
      const bytes = traceBytes(path, trace, placed, {
        ...{ shot: shot + 1, source: fromOrigin(source), field: name, text: [`${which}: ${name}`, ...text] },
        before: count ? shot * placed.receivers.length : 0,
      }, count);
      if (count) await putShot(path, bytes, shot, count);
      hashes.push(count ? hashOfAll(bytes.body) : await write(path, joined(bytes.head, bytes.body)));
    }
    const drawn = await drawGather(traces.at(-1)!, plan, title);
    await write(picture, withReceipt(drawn, hashOfAll(options.hash, `${source}`, ...hashes)));
  }
  const seconds = await world.most(ownNs) * 1e-9, shots = own.map(([shot]) => shot + 1);
  const ranks = await world.shareAll({ device: device.name, shots });
  for (const path of shared) await Deno.rename(unfinished(path), path);
  if (!isFirst) return EXIT.done;
  const cellsPerSecond = left.length === 0 ? 0 : cellsOf(grid) * steps * left.length / seconds;
  const modelCellsPerSecond = cellsPerSecond * (1 - edgesPart), cells = ownOf(model, model.grid);
  const setting = { edges, absorber, edgesPart, timeStep, steps, interval, samples };
  const rates = { cellsPerSecond, modelCellsPerSecond, ranks, configuration };
  const work = `${formatPlural(steps, "step")} of ${formatDuration(timeStep * 1e9)}`;
  const kind = absorber === "pml" ? "a PML" : "edges", part = formatPercent(edgesPart);
  const around = `with ${kind} of ${formatPlural(edges, "cell")} ${describeGrid(problem)}`;
  print(
    json ? { model: cells, grid: ownOf(stencil, grid), ...setting, ...rates, files } : [
      `Model ${cells.join("x")}, ${
        edges === 0 ? "without edges" : `${around}, ${part} of it edges`
      }; ${work}`,
      ...(left.length === 0 ? [] : [
        `${describeConfiguration(configuration)}, on ${ranks.map(({ device }) => device).join(", ")}`,
        `${formatRate(cellsPerSecond)}, of the model's own cells ${formatRate(modelCellsPerSecond)}`,
      ]),
      ...(done.length === 0 ? [] : [`Left out ${formatPlural(done.length, "shot")}, whose files are whole`]),
      `Wrote ${
        [...new Set(left.flatMap(([shot]) => Object.values(files[shot]!).flat()))].join(", ") || "nothing"
      }`,
    ],
  );
  return EXIT.done;
}

/** The numbers of shots whose files are there, whole and of this request. */
async function wholeShots({ files, sources, hash, oneFile }: Shooting): Promise<number[]> {
  const whole: number[] = [];
  for (const [shot, { waves, traces, picture }] of files.entries()) {
    const hashes: string[] = [],
      read = (path: string, isShared = false) =>
        (isShared ? takeShot(path, shot, files.length) : Deno.readFile(path)).catch(() => new Uint8Array());
    for (const path of waves) hashes.push(hashOfAll(await read(path)));
    for (const path of traces) hashes.push(hashOfAll(await read(path, oneFile)));
    const mark = hashOfAll(hash, `${sources[shot]}`, ...hashes);
    if (hasReceipt(await read(picture), mark)) whole.push(shot);
  }
  return whole;
}

const SECONDS = "a time such as 2, 2s or 2ms";

/** Cells of edges, and how they absorb. */
function readEdges(text: string, refuse: Refuse) {
  const [, pml, digits] = /^(pml)?(\d{1,4})$/.exec(text) ?? [], edges = Number(digits ?? NaN);
  if (edges >= (pml ? 1 : 0) && edges <= 1000) return { edges, absorber: pml ? "pml" : "matched" } as const;
  return refuse("a whole number from 0 to 1000, or pml and one from 1 on, such as pml12");
}

/** A time in seconds, or a part of the wavelet. */
function readStep(text: string, refuse: Refuse, earlier: EarlierValues): number | { accuracy: number } {
  const accuracy = text.endsWith("%") ? decimal(text.slice(0, -1)) / 100 : 0;
  if (accuracy > 0 && accuracy < 1) return { accuracy };
  return readSeconds(text, () => refuse(`${SECONDS}, or a part of the wavelet such as 2%`), earlier);
}

function readSeconds(text: string, refuse: Refuse, earlier: EarlierValues): number {
  const time = readBudget(/^[\d.]+$/.test(text) ? `${text}s` : text, () => refuse(SECONDS), earlier);
  return "timeNs" in time ? time.timeNs * 1e-9 : refuse(SECONDS);
}

/** Reads the name of a file that ends in one of these. */
function ending(...ends: readonly string[]) {
  return (path: string, refuse: Refuse): string =>
    ends.some((end) => path.endsWith(`.${end}`))
      ? path
      : refuse(`a name that ends in .${ends.join(" or .")}`);
}
