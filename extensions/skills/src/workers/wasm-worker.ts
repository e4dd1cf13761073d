/** The worker that runs modules of skills: what it is given and what it gives. */
import { defineWorker, Type } from '@svc/api';

export const WasmRun = defineWorker('skills.wasm', {
  input: Type.Object({
    module: Type.Unsafe<Uint8Array>({}),
    input: Type.String(),
    fuel: Type.Integer(),
    pages: Type.Integer(),
    files: Type.Array(Type.Object({ path: Type.String(), text: Type.String() })),
  }),
  output: Type.Object({ isError: Type.Boolean(), text: Type.String(), fuelUsed: Type.Integer(), logs: Type.Array(Type.String()) }),
});
