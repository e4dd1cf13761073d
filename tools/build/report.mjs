/** What the build tells a person: one line when it went well, the reasons when it did not. */

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/** `daemon, cli, 3 extensions, 2 test groups` */
export const summary = (names) => {
  const extensions = names.filter((name) => name.startsWith('ext:'));
  const tests = names.filter((name) => name.startsWith('test:'));
  const parts = names.filter((name) => !name.includes(':') || name.startsWith('fixture:'));
  if (extensions.length) parts.push(extensions.length <= 3 ? extensions.join(', ') : `${extensions.length} extensions`);
  if (tests.length) parts.push(tests.length <= 3 ? tests.join(', ') : `${tests.length} groups of tests`);
  return parts.join(', ');
};

export const reportFailures = (failures) => {
  for (const { target, lines } of failures) console.error(`${target} was not built:\n${lines.map((line) => `  ${line}`).join('\n')}`);
};

export const reportBuild = ({ built, failures, notes, rewritten, ms }) => {
  for (const note of notes) console.log(`skipped ${note}`);
  for (const file of rewritten) console.log(`rewrote ${file} (commit it)`);
  reportFailures(failures);
  const good = built.filter((name) => !failures.some((failure) => failure.target === name));
  if (good.length) console.log(`built ${summary(good)} in ${seconds(ms)}`);
  else if (!failures.length) console.log('everything is up to date');
};
