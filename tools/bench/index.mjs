/** The measurements by name, in the order of the table. Each is a file with `run({isQuick})` → {rows, raw}. */
const FOLDERS = {
  requests: ['messages', 'growing-conversations', 'tool-runs', 'first-byte', 'streams', 'agent-get', 'flooded', 'backup', 'journal', 'reservation', 'channels', 'autonomy'],
  kernel: ['journal-steps', 'crossing', 'isolated-call', 'sandboxed-start', 'checkpoints', 'policy', 'third-party', 'group-commit', 'session-search', 'audit', 'reload'],
  memory: ['recall', 'memory-size'],
  starting: ['start-up', 'status', 'restart'],
  replicas: ['replicas'],
  page: ['page'],
  footprint: ['idle-memory', 'rest-memory', 'many-agents', 'full-database', 'reload-heap', 'soak'],
};
const FOLDER_OF = new Map(Object.entries(FOLDERS).flatMap(([folder, names]) => names.map((name) => [name, folder])));

export const MEASUREMENTS = [...FOLDER_OF.keys()];

/** Too long to be one of many: measured only when it is named. */
const BY_NAME = ['soak'];

/** What a run measures that names nothing. */
export const USUAL = MEASUREMENTS.filter((name) => !BY_NAME.includes(name));

/** Never rejects: a measurement that fails is a row that says so, and the others still run. */
export const runMeasurement = async (name, options) => {
  try {
    const { run } = await import(`./measurements/${FOLDER_OF.get(name)}/${name}.mjs`);
    return { name, ...(await run(options)) };
  } catch (error) {
    return { name, rows: [{ what: name, value: 'could not be measured', target: '', met: false, method: error.message }], raw: {}, error: error.stack };
  }
};
