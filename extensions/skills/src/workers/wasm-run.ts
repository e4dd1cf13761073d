/** Runs modules of skills off the main thread, where they can be ended. */
import { runWasm } from '../wasm/engine.js';

export default runWasm;
