/**
 * A worker of the CPU, started by `CpuPool`.
 *
 * @module
 */
import { answerMessages } from "../../platform.ts";
import type { Command } from "./cpu_commands.ts";
import { answering } from "./cpu_worker.ts";

answerMessages<Command>(answering());
