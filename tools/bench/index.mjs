/** The measurements by name, in the order of the table. Each is a file with `run({isQuick})` → {rows, raw}. */
const FOLDERS = {
  requests: ['messages', 'growing-talks', 'tool-runs', 'first-byte', 'streams', 'agent-get', 'flooded', 'backup'],
  kernel: ['journal-steps', 'crossing', 'isolated-call', 'sandboxed-start', 'checkpoints', 'policy', 'strangers', 'group-commit', 'session-search', 'audit', 'reload'],
  starting: ['start-up', 'status'],
  replicas: ['replicas'],
  page: ['page'],
  footprint: ['idle-memory', 'rest-memory', 'many-agents', 'full-database', 'reload-heap'],
};
const FOLDER_OF = new Map(Object.entries(FOLDERS).flatMap(([folder, names]) => names.map((name) => [name, folder])));

export const MEASUREMENTS = [...FOLDER_OF.keys()];

/** Never rejects: a measurement that fails is a row that says so, and the others still run. */
export const runMeasurement = async (name, options) => {
  try {
    const { run } = await import(`./measurements/${FOLDER_OF.get(name)}/${name}.mjs`);
    return { name, ...(await run(options)) };
  } catch (error) {
    return { name, rows: [{ what: name, value: 'could not be measured', target: '', met: false, method: error.message }], raw: {}, error: error.stack };
  }
};
