/// <reference types="svelte" />
/// <reference types="vite/client" />

declare module "virtual:schema" {
  const schema: unknown;
  export default schema;
}

declare module "virtual:terms" {
  const terms: readonly { name: string; forms: readonly string[]; means: string }[];
  export default terms;
}
