declare module 'npm-pick-manifest' {
  interface Picked {
    readonly name: string;
    readonly version: string;
    readonly dist?: { readonly tarball?: string; readonly integrity?: string };
  }
  /** Throws with the code ETARGET or ENOVERSIONS. */
  function pickManifest(packument: object, wanted: string, options?: { readonly defaultTag?: string }): Picked;
  export = pickManifest;
}
