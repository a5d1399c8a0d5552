/// <reference lib="dom" />
/**
 * The page: a picture that runs, the tools to change it, and the panel that tunes its kernel.
 *
 * @module
 */
import { openDevice, type Profile } from "../mod.ts";
import { COLOURS, cpuPainter, drawTraces, gpuPainter, type Painter } from "./draw.ts";
import { listen, type Tool } from "./gestures.ts";
import * as equations from "../examples/scene_equations.ts";
import { type Place, type Scene, SCENES } from "../examples/scenes.ts";
import { drawIcon } from "./icons.ts";
import { decode, encode, LONGEST, MOST_PLACES, type Picture, simplified } from "./picture.ts";
import { ownScene } from "./own_scene.ts";
import { type Machine, problemOf, Simulation } from "./simulation.ts";

/** Cells of a picture on a real GPU, and without one. */
const MANY = 256_000, FEW = 64_000, OWN = "own";

/** The narrowest and the widest picture, across over down. */
const NARROWEST = 0.7, WIDEST = 2.4;

/** Milliseconds of a frame that computing may take; after a longer one the next has half the steps. */
const FRAME_MS = 25;

/** Milliseconds of a clip. */
const CLIP_MS = 5000;

let picture: Picture, painter: Painter, own: Scene | undefined, simulation: Simulation | undefined;
let machine: Machine = { device: null, cpuWorkers: 1 }, machineName = "", isSlow = true, losses = 0;
let profiles: Profile[] = [], tuning: AbortController | undefined, cursor: Place | undefined;
let isPlaying = false, mostSteps = 1, frameMs = 0, hiding: ReturnType<typeof setTimeout> | undefined;
/** The equations' texts by name, and what tuning has found, as HTML by scene and walls. */
let texts: Readonly<Record<string, string>> = {};
const results = new Map<string, string>();
/** Places of the stroke under way; undefined where the pointer is up. */
let stroke: Place[] | undefined;

function element<T extends Element = HTMLElement>(id: string): T {
  return document.getElementById(id) as unknown as T;
}
const select = (id: string): HTMLSelectElement => element(id);
const numberOf = (id: string): number => Number(element<HTMLInputElement>(id).value);
const chosen = () => ({ brush: Number(select("brush").value), radius: numberOf("radius") });
const tool = (which: string): HTMLInputElement => document.querySelector(`[name=tool]${which}`)!;
const frame = element("frame"), stage = element("stage"), text = element<HTMLTextAreaElement>("text");
const ratioOf = ({ clientWidth, clientHeight }: HTMLElement): number => clientWidth / clientHeight;

/** What only tuning needs is loaded for it: the picture comes first. */
const tuner = () => import("./race.ts");

/** Says something in the line below the picture, for some seconds unless it stays. */
function say(message: string, stays = false): void {
  element("status").textContent = message;
  clearTimeout(hiding);
  if (!stays) hiding = setTimeout(() => element("status").textContent = "", 8000);
}

/** What went wrong; of a run that broke, in the words of the picture. */
function sayError({ message }: Error): void {
  const [, name, step, why] = /found \S+ in (\S+) at .* at or before step (\d+), [^:]*: (.*)/.exec(message) ??
    [];
  say(step ? `${name} grew beyond all numbers at step ${step}: ${why}.` : message, true);
}

/** One thing after another, whatever the visitor does meanwhile; what fails is said. */
let queue: Promise<unknown> = Promise.resolve();
function inTurn(work: () => Promise<unknown> | undefined): Promise<void> {
  const done = queue.then(work).then(() => {}, sayError);
  queue = done;
  return done;
}

function builtIn(name = ""): Scene | undefined {
  return Object.hasOwn(SCENES, name) ? SCENES[name] : undefined;
}

const [FIRST, firstScene] = Object.entries(SCENES)[0]!;
/** The sides of a picture, in the order of its walls. */
const SIDES = ["top", "bottom", "left", "right"] as const;

/** What two pictures share that are of one problem. */
const problemKey = ({ scene, walls = [] }: Picture): string => `${scene} ${walls}`;

const sceneOf = ({ scene }: Picture): Scene => (scene === OWN ? own : builtIn(scene)) ?? firstScene;

/** Fills a list with titles; their values are their numbers, or the titles. */
function fill(id: string, titles: readonly string[], value: number | string): void {
  const isByTitle = typeof value === "string";
  select(id).replaceChildren(...titles.map((title, i) => new Option(title, isByTitle ? title : `${i}`)));
  select(id).value = `${value}`;
}

/** A scene's picture before anything is painted. */
function blank(name: string): Picture {
  const { sources = [], receivers = [], coarse = 1 } = builtIn(name) ?? own!;
  const ratio = Math.min(WIDEST, Math.max(NARROWEST, ratioOf(stage)));
  const rows = Math.round(Math.sqrt((isSlow ? FEW : MANY) / coarse / ratio));
  return { scene: name, size: [rows, Math.round(rows * ratio)], preset: 0, strokes: [], sources, receivers };
}

/** The text of a scene's equation. */
function textOf({ stencil }: Scene): string {
  const found = Object.entries(equations).find(([, one]) => one === stencil);
  return found === undefined ? text.value : texts[found[0]]!;
}

/** A list for each side, of what may lie beyond it. */
function showWalls({ sides }: Scene): void {
  const titles = sides.map(([title], i) => i === 0 ? `${title} (as usual)` : title);
  SIDES.forEach((side, i) => {
    fill(side, titles, picture.walls?.[i] ?? 0);
    select(side).disabled = sides.length < 2;
  });
}

/** Begins the picture again with the walls that are chosen; a side that is joined takes the opposite one along. */
function setWall({ target }: Event): void {
  const { sides } = sceneOf(picture),
    at = SIDES.findIndex((id) => id === (target as Element).id),
    opposite = at ^ 1;
  const walls = SIDES.map((id) => Number(select(id).value)),
    isJoined = (side: number) => sides[walls[side]!]![1] === "periodic";
  if (isJoined(at) || isJoined(opposite)) walls[opposite] = walls[at]!;
  const { kernel: _, ...rest } = picture;
  open({ ...rest, walls });
}

/** Sliders for what a scene's visitor may change while it runs. */
function showParameters({ parameters = {} }: Scene): void {
  const sliders = Object.entries(parameters).map(([name, [title, least, most, usual]]) => {
    const value = picture.parameters?.[name] ?? usual,
      step = 10 ** Math.floor(Math.log10((most - least) / 20));
    const range = `min="${least}" max="${most}" step="${step}" value="${value}"`;
    return `<label><span>${title} <output>${value}</output></span><input type="range" name="${name}" ${range}></label>`;
  });
  element("parameters").innerHTML = sliders.join("");
}

function setParameter({ target, type }: Event): void {
  const { name, value, previousElementSibling } = target as HTMLInputElement;
  previousElementSibling!.querySelector("output")!.value = value;
  change({ parameters: { ...picture.parameters, [name]: Number(value) } });
  if (name !== "frequency") inTurn(() => simulation?.set(name, Number(value)));
  // sources send what they were set off with
  else if (type === "change") begin();
}

/**
 * Shows a picture from its first step on. It is the page's at once: what a visitor does while it opens is done to it, after
 * that.
 *
 * @param goesOn whether it goes on from where it is, with another kernel
 */
function open(next: Picture, goesOn = false): Promise<void> {
  const scene = sceneOf(next), { brushes, presets, help, source, title, formula, map, speed = 2 } = scene;
  const isNew = next.scene !== picture?.scene;
  picture = next;
  stroke = undefined;
  fit();
  if (isNew) {
    fill("brush", brushes.map(([title]) => title), brushes.length - 1);
    fill("colours", Object.keys(COLOURS), map);
    element<HTMLInputElement>("speed").value = `${speed}`;
    saySpeed();
    text.value = textOf(scene);
  }
  fill("preset", presets.map(([title]) => title), next.preset);
  for (const [id, words] of Object.entries({ title, formula, help })) element(id).textContent = words;
  for (const button of document.querySelectorAll<HTMLElement>("#gallery button")) {
    button.ariaCurrent = `${button.dataset.scene === next.scene}`;
  }
  element("result").innerHTML = results.get(problemKey(next)) ?? "";
  showParameters(scene);
  showWalls(scene);
  tool("[value=source]").disabled = source === undefined;
  if (tool(":checked").disabled) tool("[value=touch]").checked = true;
  drawMarks();
  frame.ariaBusy = "true";
  return inTurn(async () => {
    const from = goesOn ? await simulation?.solver.save() : undefined;
    simulation?.solver.dispose();
    simulation = undefined;
    simulation = await Simulation.open(scene, next, machine, profiles, from);
    mostSteps = 1;
    const { solver: { configuration }, size } = simulation, workers = configuration.share.cpuWorkers;
    const where = machine.device ? machineName : `the CPU, ${workers} worker${workers === 1 ? "" : "s"}`;
    const said = `${size[1]} × ${size[0]} cells on ${where}, kernel: ${configuration.traversal}.`;
    Object.assign(element("device"), { textContent: said, title: JSON.stringify(configuration) });
    await redraw();
  }).finally(() => frame.ariaBusy = "false");
}

/** Begins the picture again. */
function begin(): Promise<void> {
  const begun = picture;
  return inTurn(() => simulation?.restart(begun).then(redraw));
}

async function redraw(): Promise<void> {
  if (simulation === undefined) return;
  await painter(simulation, { map: select("colours").value, gain: 2 ** numberOf("gain") });
  const { solver: { step } } = simulation;
  frame.dataset.step = `${step}`;
  element("clock").textContent = `Step ${step.toLocaleString()}`;
  element("heard").hidden = picture.receivers.length === 0;
  drawTraces(element<HTMLCanvasElement>("traces"), simulation.traces);
}

function drawMarks(): void {
  const mark = (textContent: string, [down, across]: Place): HTMLElement => {
    const span = Object.assign(document.createElement("span"), { textContent });
    Object.assign(span.style, { top: `${down / 10}%`, left: `${across / 10}%` });
    return span;
  };
  element("marks").replaceChildren(
    ...picture.sources.map((place) => mark("✳", place)),
    ...picture.receivers.map((place, i) => mark(`▽ ${i + 1}`, place)),
    ...(cursor && document.activeElement === frame ? [mark("┼", cursor)] : []),
  );
}

function change(part: Partial<Picture>): void {
  picture = { ...picture, ...part };
  drawMarks();
}

function saySpeed(steps = 2 ** numberOf("speed")): void {
  element("said-speed").textContent = `${steps} step${steps === 1 ? "" : "s"} a frame`;
}

/** Steps of a frame: what the visitor wants, whole heights of the kernel where these are near, as many as stay smooth. */
function stepsOfFrame({ height }: Simulation): number {
  const wanted = 2 ** numberOf("speed");
  const whole = 2 * wanted >= height ? Math.max(1, Math.round(wanted / height)) * height : wanted;
  const steps = Math.max(1, Math.min(whole, Math.floor(mostSteps)));
  saySpeed(steps);
  return steps;
}

/** Advances; how long it takes decides how many steps the next frame may have. */
function advance(wanted?: number): Promise<void> {
  return inTurn(async () => {
    if (simulation === undefined) return;
    const steps = wanted ?? stepsOfFrame(simulation), began = performance.now();
    await simulation.solver.run(steps).catch((error) => {
      setPlaying(false);
      throw error;
    });
    await redraw();
    frameMs = performance.now() - began;
    mostSteps = frameMs > FRAME_MS ? Math.max(1, steps / 2) : Math.max(mostSteps, 2 * steps);
  });
}

async function setPlaying(wanted: boolean): Promise<void> {
  const wasPlaying = isPlaying;
  isPlaying = wanted;
  if (wanted) say("");
  element("play").setAttribute("aria-pressed", `${wanted}`);
  element("play").lastChild!.textContent = wanted ? "Pause" : "Play";
  element("play").dataset.icon = wanted ? "pause" : "play";
  drawIcon(element("play"));
  while (isPlaying && !wasPlaying) {
    await new Promise(requestAnimationFrame);
    if (isPlaying && !document.hidden) await advance();
  }
}

/** Uses a tool at a place; `from` is where a stroke comes from. */
function use(which: Tool, place: Place, from: Place = place): void {
  const key = which === "source" ? "sources" : "receivers", points = picture[key];
  if (which === "paint") {
    const part = { ...chosen(), places: [from, place] };
    if (stroke === undefined) change({ strokes: [...picture.strokes, part] });
    else stroke.push(place);
    inTurn(() => simulation?.paint(part));
  } else if (points.length === MOST_PLACES) return say(`${MOST_PLACES} of these are the most.`);
  else {
    change({ [key]: [...points, place] });
    inTurn(() => which === "source" ? simulation?.addSource(place) : simulation?.addReceiver(place));
  }
  if (!isPlaying) inTurn(redraw);
}

function endStroke(): void {
  if (stroke !== undefined && stroke.length > 0) {
    change({ strokes: [...picture.strokes, { ...chosen(), places: simplified(stroke) }] });
  }
  stroke = undefined;
}

/** Opens a panel and closes the others, or closes it. */
function showPanel(wanted: string, isOpen = true): void {
  for (const button of document.querySelectorAll("nav button")) {
    const id = button.getAttribute("aria-controls")!, isShown = isOpen && id === wanted;
    button.setAttribute("aria-expanded", `${isShown}`);
    element(id).hidden = !isShown;
  }
  if (isOpen) element(wanted).scrollIntoView({ block: "nearest" });
}

/** Tunes what is shown, and goes on with the fastest. */
async function tuneNow(): Promise<void> {
  if (tuning !== undefined) return tuning.abort();
  const button = element("tune"), tuned = picture;
  tuning = new AbortController();
  button.textContent = "Stop tuning";
  try {
    const [earlier] = profiles, { signal } = tuning;
    const others = { signal, ...(earlier && { profile: earlier }) };
    // the page draws in between; where its frames are slow, the tuner steps back for some
    const rest = () =>
      new Promise<void>((resolve) => setTimeout(resolve, isPlaying && frameMs > 33 ? 400 : 0));
    const problem = problemOf(sceneOf(tuned), tuned),
      isHere = () => problemKey(picture) === problemKey(tuned);
    const show = (html: string) => {
      results.set(problemKey(tuned), html);
      if (isHere()) element("result").innerHTML = html;
    };
    const profile = await (await tuner()).race(problem, machine, others, show, rest);
    if (profile === undefined) return say("Nothing could be verified on this device.");
    await takeProfile(profile);
    if (isHere()) await open({ ...picture, kernel: profile.entries[0]!.configuration }, true);
  } catch (error) {
    say((error as Error).message);
  } finally {
    tuning = undefined;
    button.textContent = "Tune for 5 seconds";
  }
}

async function takeProfile(profile: Profile): Promise<void> {
  profiles = (await tuner()).keptWith(profile, profiles);
  element<HTMLButtonElement>("download").disabled = false;
}

/** Gives the visitor a file. */
function keep(file: Blob, download: string): void {
  const href = URL.createObjectURL(file);
  Object.assign(document.createElement("a"), { href, download }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

/** The picture as it is, as a file. */
function savePicture(): Promise<void> {
  return inTurn(async () => {
    await redraw();
    // at once: a canvas of WebGPU is empty after its frame
    element<HTMLCanvasElement>("picture").toBlob((file) => file && keep(file, `facet-${picture.scene}.png`));
  });
}

/** Records the picture while it runs. */
function saveClip(): void {
  const mimeType = ["video/webm", "video/mp4"].find((one) => globalThis.MediaRecorder?.isTypeSupported(one));
  if (mimeType === undefined) return say("This browser cannot record.");
  const recorder = new MediaRecorder(element<HTMLCanvasElement>("picture").captureStream(30), { mimeType });
  const parts: Blob[] = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  recorder.onstop = () => {
    keep(new Blob(parts, { type: mimeType }), `facet.${mimeType.slice(6)}`);
    say("Recorded.");
  };
  recorder.start();
  say(`Recording ${CLIP_MS / 1000} seconds.`, true);
  setPlaying(true);
  setTimeout(() => recorder.stop(), CLIP_MS);
}

function openProfile(file: File | undefined): Promise<void> {
  return inTurn(async () => {
    if (file === undefined) return;
    await takeProfile(await (await tuner()).readProfile(await file.text()));
    const { kernel: _, ...rest } = picture;
    open(rest);
    say("The profile is kept in this browser, and the kernel was chosen by it.");
  });
}

async function runOwn(): Promise<void> {
  const mistake = element("mistake");
  mistake.textContent = "";
  try {
    const like = builtIn(picture.scene) ? picture.scene : picture.like ?? FIRST;
    const { definitionOfText } = await import("./own_equation.ts");
    const definition = await definitionOfText(text.value, new URL("./words.js", import.meta.url));
    const { sides } = sceneOf(picture), { walls } = picture;
    own = ownScene(definition, builtIn(like) ?? firstScene);
    await open({ ...blank(OWN), equation: text.value, like, ...(own.sides === sides && walls && { walls }) });
  } catch (error) {
    mistake.textContent = (error as Error).message;
    text.focus();
  }
}

function copy(words: string, done: string, otherwise: string): Promise<void> {
  return navigator.clipboard.writeText(words).then(() => say(done), () => say(otherwise));
}

async function copyProgram(): Promise<void> {
  const scene = sceneOf(picture), { programOf } = await import("./program.ts");
  const program = programOf(scene, picture, textOf(scene));
  return copy(program, "The program was copied.", "This browser does not let the page copy.");
}

async function share(): Promise<void> {
  const packed = await encode(picture);
  if (packed === undefined) {
    return say(`The picture is too large: ${LONGEST} characters are the most of a link.`);
  }
  location.hash = packed;
  await copy(location.href, "The link was copied.", "The address bar has the link.");
}

/** The picture of the page's own link; an equation in it is shown, but runs only when the visitor asks. */
async function linked(): Promise<Picture | undefined> {
  if (location.hash.length < 2) return undefined;
  try {
    const found = await decode(location.hash.slice(1));
    if (builtIn(found.scene) !== undefined) return found;
    if (!found.equation) return say("The link names no scene of this page.") as undefined;
    const { walls } = found;
    await open({ ...blank(builtIn(found.like) ? found.like! : FIRST), ...(walls && { walls }) });
    text.value = found.equation;
    say("The link has an equation of its own: read it, then run it.");
  } catch (error) {
    say((error as Error).message);
  }
}

/** Opens what computes here, and says what is missing. */
async function findMachine(): Promise<void> {
  fit();
  const canvas = element<HTMLCanvasElement>("picture"), isWanted = location.search === "?on=gpu";
  const found = losses > 1 ? null : await openDevice().catch(() => null);
  const { vendor = "", architecture = "", description = "", isFallbackAdapter } = found?.adapterInfo ?? {};
  const isSoftware = isFallbackAdapter || /swiftshader|llvmpipe/i.test(`${architecture} ${description}`);
  // workers of the CPU are faster than a GPU in software
  const device = isSoftware && !isWanted ? null : found;
  const isIsolated = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated === true;
  const cores = navigator.hardwareConcurrency ?? 1;
  machine = { device, cpuWorkers: isIsolated ? Math.max(1, Math.min(8, cores - 1)) : 1 };
  machineName = description || [vendor, architecture].filter(Boolean).join(" ") || "a GPU";
  isSlow = device === null || isSoftware;
  // what composes pages in software shows no canvas of WebGPU
  painter = isSlow ? cpuPainter(canvas) : gpuPainter(canvas, device!);
  if (device === null) {
    const how = losses > 1
      ? "The GPU was lost twice."
      : navigator.gpu === undefined
      ? "This browser has no WebGPU: current Chrome, Edge, Safari and Firefox have it, on pages from https or this machine."
      : found === null
      ? "This browser found no GPU: its settings may have hardware acceleration off."
      : "WebGPU is computed in software here: the CPU's own workers are faster.";
    say(`${how} The CPU computes.${isIsolated ? "" : " One worker, since the page may not share memory."}`);
  }
  device?.lost.then(({ message }) => {
    setPlaying(false);
    if (losses++ === 0) say(`The GPU was lost: it is opened again. ${message}`);
    // a canvas keeps its first context: a new one takes its place
    canvas.replaceWith(canvas.cloneNode());
    inTurn(findMachine).then(() => open(picture));
  });
}

/** Gives the frame the picture's sides, or the stage's where they are alike, and the canvas as many pixels as it has. */
function fit(): void {
  const wanted = ratioOf(stage), ratio = picture ? picture.size[1] / picture.size[0] : wanted;
  frame.style.setProperty("--ratio", `${Math.abs(ratio / wanted - 1) < 0.02 ? wanted : ratio}`);
  const { clientWidth, clientHeight } = frame, canvas = element<HTMLCanvasElement>("picture");
  const [width, height] = [clientWidth, clientHeight].map((one) =>
    Math.round(one * Math.min(2, devicePixelRatio))
  );
  // to set them clears it
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
}

async function start(): Promise<void> {
  texts = (await import(new URL("./texts.js", import.meta.url).href)).default;
  document.querySelectorAll<HTMLElement>("[data-icon]").forEach(drawIcon);
  element("gallery").innerHTML = Object.entries(SCENES).map(([name, { title }]) =>
    `<button type="button" data-scene="${name}"><span></span>${title}</button>`
  ).join("");
  document.querySelectorAll<HTMLElement>("#gallery span").forEach((tile, i, { length }) =>
    tile.style.backgroundPosition = `0 ${100 * i / (length - 1)}%`
  );
  await findMachine();
  if (localStorage.length > 0) profiles = await (await tuner()).keptProfiles();
  element<HTMLButtonElement>("download").disabled = profiles.length === 0;
  const found = await linked();
  if (found !== undefined) await open(found);
  // also where a link cannot be opened: why is said by now
  if (simulation === undefined) await open(blank(FIRST));
  listen(frame, {
    tool: () => tool(":checked").value as Tool | "touch",
    tapped: () => tool("[value=source]").disabled ? "paint" : "source",
    use,
    begin: () => stroke = [],
    end: endStroke,
    point: (place) => (cursor = place, drawMarks()),
  });
  frame.onfocus = frame.onblur = drawMarks;
  new ResizeObserver(() => {
    fit();
    inTurn(redraw);
  }).observe(stage);
  select("preset").onchange =
    () => (change({ preset: Number(select("preset").value), strokes: [] }), begin());
  document.onkeydown = (event) => {
    if (event.key !== " " || (event.target !== frame && event.target !== document.body)) return;
    setPlaying(!isPlaying);
    event.preventDefault();
  };
  for (const button of document.querySelectorAll<HTMLElement>("nav button")) {
    const id = button.getAttribute("aria-controls")!;
    button.setAttribute("aria-expanded", "false");
    button.onclick = () => showPanel(id, element(id).hidden === true);
  }
  const clicks = {
    restart: begin,
    clear: () => open({ ...picture, strokes: [], sources: [], receivers: [] }),
    play: () => setPlaying(!isPlaying),
    step: () => advance(1),
    tune: tuneNow,
    download: async () => keep(new Blob(profiles.map((await tuner()).formatProfile)), "facet-profile.json"),
    save: savePicture,
    record: saveClip,
    full: () => stage.requestFullscreen(),
    copy: copyProgram,
    "run-own": runOwn,
    share,
    gallery({ target }: Event) {
      const { scene } = (target as Element).closest("button")?.dataset ?? {};
      if (scene) open(blank(scene));
    },
  };
  for (const [id, act] of Object.entries(clicks)) element(id).onclick = act;
  element("walls").onchange = setWall;
  element("parameters").oninput = element("parameters").onchange = setParameter;
  element("speed").oninput = () => saySpeed();
  element("colours").oninput = element("gain").oninput = () => inTurn(redraw);
  element("upload").onchange = () => openProfile(element<HTMLInputElement>("upload").files?.[0]);
  document.body.ondragover = (event) => event.preventDefault();
  document.body.ondrop = (event) => (event.preventDefault(), openProfile(event.dataTransfer?.files[0]));
  document.body.dataset.ready = "yes";
  // for the console: facet.simulation.traces, facet.picture; facet.done is a promise of what was asked for so far
  Object.defineProperty(globalThis, "facet", {
    get: () => ({ picture, simulation, done: queue, ...machine }),
  });
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches || navigator.webdriver;
  if (!isCalm) setPlaying(true);
  // on the first visit by itself, once the page is idle; not where that would make it stutter
  const whenIdle = globalThis.requestIdleCallback ?? ((work: () => void) => setTimeout(work, 1000));
  const first = () => whenIdle(() => mostSteps > 1 && tuning === undefined && tuneNow());
  if (profiles.length === 0 && !isCalm) setTimeout(first, 3000);
}

start();
