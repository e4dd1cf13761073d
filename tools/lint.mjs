#!/usr/bin/env node
/**
 * Everything about the source that a program can validate in seconds.
 *
 *   npm run lint             format, lint, boundaries, adapters, cycles, shape, error codes, route tables, tables in SQL, calls of the daemon, tokens of styles, words, numbers of decisions, types, the page of the API
 *   npm run lint -- --fix    formats and applies the safe fixes first
 *
 * One finding per line: `file:line rule message`.
 */
import { parseArgs } from 'node:util';
import { build } from './build/index.mjs';
import { checkBoundaries } from './checks/boundaries.mjs';
import { checkDaemonCalls } from './checks/daemon-calls.mjs';
import { checkDecisions } from './checks/decisions.mjs';
import { checkEffects } from './checks/effects.mjs';
import { checkErrorCodes } from './checks/error-codes.mjs';
import { runApiPage, runBiome, runTypes } from './checks/outside-tools.mjs';
import { checkMadeActors } from './checks/made-actors.mjs';
import { checkAreaCycles, checkCycles } from './checks/cycles.mjs';
import { checkRouteTables } from './checks/route-tables.mjs';
import { checkShape } from './checks/shape.mjs';
import { readSources } from './checks/sources.mjs';
import { checkSqlTables } from './checks/sql-tables.mjs';
import { checkStyles } from './checks/style-tokens.mjs';
import { checkWords } from './checks/words.mjs';
import { writeGenerated } from './client/generated.mjs';

const TYPE_PROJECTS = ['kernel', 'extensions', 'extensions/tsconfig.pages.json', 'extensions/tsconfig.cli.json', 'test'];
const OWN_CHECKS = [
  checkBoundaries,
  checkEffects,
  checkCycles,
  checkAreaCycles,
  checkShape,
  checkErrorCodes,
  checkRouteTables,
  checkSqlTables,
  checkDaemonCalls,
  checkMadeActors,
  checkStyles,
  checkWords,
  checkDecisions,
];

const byPlace = (a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || (a.rule < b.rule ? -1 : 1));
const key = ({ file, line, rule, message }) => `${file}:${line} ${rule} ${message.replaceAll('\n', ' ')}`;

const { values } = parseArgs({ options: { fix: { type: 'boolean', default: false } } });
const startedAt = Date.now();
// Checks read what the build writes: each area's contributions.json, and the client's types made of them.
const { failures } = await build();
for (const { target, lines } of failures) console.log(`${target} cannot be built: ${lines.join(' ')}`);
if (failures.length === 0) await writeGenerated();
const biome = await runBiome(values);
const types = Promise.all([...TYPE_PROJECTS.map(runTypes), runApiPage()]);
const sources = readSources();
const own = OWN_CHECKS.flatMap((check) => check(sources));
// A file of the kernel is part of more than one project, and so are its errors.
const lines = [...new Set([...biome, ...own, ...(await types).flat()].sort(byPlace).map(key))];

for (const line of lines) console.log(line);
const took = `${((Date.now() - startedAt) / 1000).toFixed(1)} s`;
console.log(lines.length ? `${lines.length} ${lines.length === 1 ? 'finding' : 'findings'} in ${sources.length} files, ${took}` : `${sources.length} files are clean, ${took}`);
process.exitCode = lines.length + failures.length ? 1 : 0;
