// Makes `profile.schema.json` from the schema: `deno run --allow-write=. bench/write_json_schema.ts`.
import * as z from "npm:zod@4.6.7";
import { JSON_SCHEMA_NAME, profileSchema } from "../tuner/profile/schema.ts";

export const JSON_SCHEMA_URL: URL = new URL(`../${JSON_SCHEMA_NAME}`, import.meta.url);

/** The profile's JSON Schema, draft 2020-12, as the file holds it. */
export function renderJsonSchema(): string {
  const { $schema, ...schema } = z.toJSONSchema(profileSchema, { target: "draft-2020-12" });
  const head = { $schema, title: "Facet profile", description: "What Facet found out about a device." };
  return JSON.stringify({ ...head, ...schema }, null, 2) + "\n";
}

if (import.meta.main) await Deno.writeTextFile(JSON_SCHEMA_URL, renderJsonSchema());
