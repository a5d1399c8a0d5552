/**
 * What an equation's module imports as `@facet/facet` when a command loads it.
 *
 * @module
 */
export * from "../../mod.ts";
