#!/usr/bin/env node
/**
 * Measures svc on this machine, without network, and prints a table. What counts are ratios within one run:
 * to the floor (the same work without us) and to `node -e 0`.
 *
 *   node tools/bench.mjs                 everything, some minutes
 *   node tools/bench.mjs messages        one measurement (several may be named)
 *   node tools/bench.mjs soak            20 minutes of a fixed load; not part of everything
 *   node tools/bench.mjs --quick         shorter windows
 *   node tools/bench.mjs audit --large   a million audit entries instead of 100,000
 *   node tools/bench.mjs --guard         says what got worse than recorded by more than the noise, and exits with 1 then
 *   node tools/bench.mjs --record        keeps this run's ratios in tools/bench/recorded.json
 *
 * Raw figures are kept in bench/results/.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { compare, guardLines } from './bench/guard.mjs';
import { MEASUREMENTS, runMeasurement, USUAL } from './bench/index.mjs';
import { readRecorded, record } from './bench/recorded.mjs';
import { renderTable } from './bench/table.mjs';
import { build } from './build/index.mjs';
import { fromRoot, inRoot } from './build/paths.mjs';
import { reportBuild } from './build/report.mjs';

const FLAGS = Object.fromEntries(['quick', 'large', 'guard', 'record'].map((name) => [name, { type: 'boolean', default: false }]));
const { values, positionals } = parseArgs({ allowPositionals: true, options: FLAGS });

const measureAll = async (names) => {
  const results = [];
  for (const name of names) {
    process.stderr.write(`bench: ${name} …\n`);
    results.push(await runMeasurement(name, { isQuick: values.quick, isLarge: values.large }));
  }
  return results;
};

const machine = () => ({ cpus: os.cpus().length, model: os.cpus()[0]?.model, memory: os.totalmem(), load: os.loadavg(), node: process.version, platform: `${os.platform()} ${os.release()}` });

const keep = (results) => {
  const at = new Date().toISOString();
  const file = inRoot('bench/results', `${at.replaceAll(':', '-')}.json`);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ at, machine: machine(), isQuick: values.quick, results }, null, 2));
  return file;
};

/** Says how this run compares with the recorded one; true when nothing got worse. */
const guard = (results) => {
  const found = compare(readRecorded(), results);
  for (const line of guardLines(found)) console.log(line);
  return found.worse.length === 0;
};

/** A measurement that failed leaves what it had recorded. */
const recordGood = (results) => {
  const { cpus, model, node } = machine();
  return record(
    results.filter(({ error }) => error === undefined),
    { at: new Date().toISOString(), isQuick: values.quick, machine: { cpus, model, node } },
  );
};

const main = async () => {
  const unknown = positionals.find((name) => !MEASUREMENTS.includes(name));
  if (unknown) throw new Error(`there is no measurement "${unknown}"; known: ${MEASUREMENTS.join(', ')}`);
  const built = await build({});
  reportBuild(built);
  if (built.failures.length) return 1;
  const results = await measureAll(positionals.length ? positionals : USUAL);
  console.log(renderTable(results.flatMap((result) => result.rows)));
  console.log(`\nraw figures: ${fromRoot(keep(results))}; ${os.cpus().length} CPUs, load ${os.loadavg()[0].toFixed(1)} at the end`);
  const failed = results.filter((result) => result.error);
  for (const { name, error } of failed) console.error(`bench: ${name} could not be measured: ${error}`);
  const isGood = !values.guard || guard(results);
  if (values.record) console.log(`recorded: ${fromRoot(recordGood(results))}`);
  return failed.length || !isGood ? 1 : 0;
};

try {
  // A measurement's own children are gone by now; sockets that linger are not worth waiting for.
  process.exit(await main());
} catch (error) {
  console.error(`bench: ${error.message}`);
  process.exit(1);
}
