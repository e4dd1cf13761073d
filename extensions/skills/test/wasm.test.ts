/** Modules of WebAssembly: what they may do, and what ends them. */
import { expect } from 'chai';
import { runWasm, type WasmCall, type WasmEnd } from '../src/wasm/engine.js';
import { metered } from '../src/wasm/meter.js';
import { probeModule } from '../src/wasm/probe.js';
import { type MODULES, moduleNamed } from './wasm-modules.js';

declare const WebAssembly: {
  readonly Module: new (program: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: { alloc(size: number): number; execute(at: number, size: number): bigint } };
};
type Name = keyof typeof MODULES;
const LIMITS = { fuel: 1_000_000, pages: 256, files: [{ path: 'words.txt', text: 'ahoy' }] };
const run = (name: Name, more: Partial<WasmCall> = {}): WasmEnd => runWasm({ module: moduleNamed(name), input: '{"tool":"t","input":{"a":1}}', ...LIMITS, ...more });

describe('modules of WebAssembly', function () {
  this.timeout(30_000);

  it('get one JSON, and answer with another', () => {
    expect(run('echo')).to.deep.include({ isError: false, text: '{"tool":"t","input":{"a":1}}', logs: [] });
    expect(run('logs')).to.deep.include({ isError: false, logs: ['info: ahoy'] });
  });

  it('M1 end without fuel, wherever they loop', () => {
    for (const name of ['fills', 'starts', 'tight'] as const) expect(run(name).text, name).to.match(/used up its fuel of 1000000|while it was started: unreachable/);
    expect(runWasm({ ...LIMITS, module: probeModule(), input: '{}' }).text).to.equal('it used up its fuel of 1000000');
    expect(run('deep', { fuel: 1_000 }).text).to.equal('it used up its fuel of 1000');
    expect(run('deep', { fuel: 1_000_000_000 }).text).to.equal('its calls nest too deep');
    // 17 rounds of 60,000 bytes, an eighth of a unit each: 18 are too many.
    expect(run('fills', { fuel: 60_000 }).fuelUsed).to.equal(60_000);
  });

  it('M1 use the same fuel for the same input, and end at the same place', () => {
    const first = run('sums');
    expect(first.isError).to.equal(false);
    expect(run('sums')).to.deep.equal(first);
    expect(first.fuelUsed).to.be.within(20_000, 60_000);
    expect(run('sums', { fuel: first.fuelUsed }).text).to.equal(first.text);
    expect(run('sums', { fuel: first.fuelUsed - 1 })).to.deep.include({ isError: true, text: `it used up its fuel of ${first.fuelUsed - 1}` });
  });

  it('M1 give what they give without metering', () => {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(moduleNamed('sums'))) as unknown as { exports: { memory: { buffer: ArrayBuffer }; execute(at: number, size: number): bigint } };
    exports.execute(0, 0);
    expect(run('sums').text).to.equal(Buffer.from(exports.memory.buffer, 0, 8).toString());
  });

  it('M2 have no more memory than they may', () => {
    expect(run('grows', { fuel: 100_000_000 })).to.deep.include({ isError: false, text: 'no' });
    expect(run('grows', { fuel: 100_000 }).text).to.include('fuel');
    expect(run('wide').text).to.equal('it wants 1000 pages of memory at its start, and may have 256');
    expect(run('lies').text).to.include('more than 1048576 bytes');
  });

  it('M3 read files of their skill, and are refused the rest by name', () => {
    expect(run('reads').text).to.equal('{"ok":"ahoy"}');
    expect(run('reads', { files: [] }).text).to.equal('{"error":"not found: words.txt"}');
    expect(run('reaches').text).to.include('denied').and.include('shell_exec');
    expect(run('wasi').text).to.include('wasi_snapshot_preview1.fd_write').and.include('no WASI');
    expect(run('foreign').text).to.include('it imports env.now');
  });

  it('M4 are refused where they are no valid module', () => {
    for (const [name, module] of Object.entries({ empty: new Uint8Array(), text: Buffer.from('hello'), cut: moduleNamed('sums').subarray(0, 100) }))
      expect(runWasm({ ...LIMITS, module, input: '{}' }).text, name).to.include('no valid WebAssembly module');
    // It writes to the global that is added for the fuel.
    const sneaky = Buffer.from(moduleNamed('echo'));
    expect(() => metered(sneaky.subarray(0, 20), { fuel: 1, pages: 1 })).to.throw('it ends in the middle');
  });
});
