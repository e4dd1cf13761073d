/** The measurements by name, in the order of the table. Each is a file with `run({isQuick})` → {rows, raw}. */
export const MEASUREMENTS = ['messages', 'journal-steps', 'first-byte', 'start-up', 'status', 'crossing', 'group-commit', 'idle-memory', 'reload', 'reload-heap'];

/** Never rejects: a measurement that fails is a row that says so, and the others still run. */
export const runMeasurement = async (name, options) => {
  try {
    const { run } = await import(`./measurements/${name}.mjs`);
    return { name, ...(await run(options)) };
  } catch (error) {
    return { name, rows: [{ what: name, value: 'could not be measured', target: '', met: false, method: error.message }], raw: {}, error: error.stack };
  }
};
