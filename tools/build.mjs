#!/usr/bin/env node
/**
 * Builds dist/: what is stale and nothing else.
 *
 *   node tools/build.mjs                  the daemon, the command line, all extensions
 *   node tools/build.mjs --tests          the tests too
 *   node tools/build.mjs --only ext:runs  one target (repeatable)
 */
import { parseArgs } from 'node:util';
import { build } from './build/index.mjs';
import { reportBuild } from './build/report.mjs';
import { writeGenerated } from './client/generated.mjs';

const { values } = parseArgs({ options: { tests: { type: 'boolean', default: false }, only: { type: 'string', multiple: true } } });

try {
  const result = await build({ tests: values.tests || values.only?.some((name) => /^(test|fixture):/.test(name)) ? () => true : false, only: values.only });
  reportBuild(result);
  // What editors and the type checker read; a single target changes none of it that another build would not.
  if (!values.only && result.failures.length === 0) await writeGenerated();
  process.exitCode = result.failures.length ? 1 : 0;
} catch (error) {
  console.error(`build: ${error.message}`);
  process.exitCode = 1;
}
