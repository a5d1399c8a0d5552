// Numbers for people are the report's business too; the commands find them here.
export * from "../format.ts";
