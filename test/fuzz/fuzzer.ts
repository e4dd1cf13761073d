/**
 * openapi.json as a promise: schemathesis makes requests from it, fitting and not, and finds no internal error, no status
 * and no shape that the document does not tell. It is a Python program: where there is none, this is skipped by name.
 * SCHEMATHESIS names it; `python3 -m venv DIR && DIR/bin/pip install schemathesis` makes one. FUZZ_ONLY is a pattern of paths: only these are tried.
 * FUZZ_EXAMPLES is how many requests each operation gets at random, FUZZ_SEED which.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

/** A daemon that is given an unsandboxed program during the run would give itself a key, and answer nothing but 401 from then on. */
const KEY = 'the-key-of-the-fuzzer';

/** The last two hold requests against the document: what fits is taken, and what does not fit is refused. */
const CHECKS = ['no_internal_error', 'status_code_conformance', 'content_type_conformance', 'response_schema_conformance', 'fitting_data_acceptance', 'unfitting_data_rejection'];

/** What input that fits the document may be answered with: what it names is not there, has changed, is not allowed or not set up here, or is too large. */
const ACCEPTED = ['2xx', '3xx', '401', '403', '404', '409', '412', '413', '426', '429', '5xx'];

/** What input that does not fit may be answered with. */
const REFUSED = ['400', '401', '403', '404', '405', '406', '409', '412', '413', '415', '422', '426', '429', '5xx'];

/** Rules that JSON Schema cannot say: errors with which input that fits the document may be refused. */
const UNSAYABLE: Readonly<Record<string, string>> = {
  collection_two_pages: 'OpenAPI describes each parameter of a query by itself',
  storage_bad_cursor: 'a cursor is one that the list gave',
  collection_bad_cursor: 'a cursor is one that the list gave',
  run_cannot_think: 'it depends on the model behind the agent',
  llm_parameter_unsupported: 'it depends on the model behind the agent',
  upload_type_mismatch: 'the bytes decide what a file is',
  agents_invalid_manifest: 'a text of TOML, and what schemas/agent.schema.json says',
  config_value_invalid: 'each setting has a schema of its own: GET /api/config/schema',
  config_setting_unknown: 'settings are listed by GET /api/config/schema',
  config_value_unwritable: 'each setting has a schema of its own: GET /api/config/schema',
  session_conflict: 'what headers and the body ask for is compared',
  models_bad_model: 'prices and windows are compared with each other',
  collection_bad_revision: 'the fuzzer also sends If-Match without a value, whatever its pattern',
  storage_too_large: 'the database has a limit of its own for patterns',
  bad_tool: 'its parameters are a JSON Schema of their own',
  bad_tool_choice: 'it names a tool of the same request',
  bad_arguments: 'a text of JSON',
  invalid_image: 'the bytes decide what an image is',
  missing_message: 'the order of messages decides',
  no_question: 'the order of messages decides',
  no_beginning: 'the order of messages decides',
  results_missing: 'the calls of earlier messages decide',
  unsupported_part: 'which message it is part of decides',
  llm_embeddings_unsupported: 'which providers there are decides',
  providers_bad_name: 'names in the configuration are free, and only new ones have a form',
  providers_two_values: 'two names of one field have one value',
  mcp_sign_in_over: 'a sign-in that was begun decides',
  a2a_invalid_params: 'which agents are open to A2A decides',
  a2a_no_text: 'one part with words is enough',
  a2a_invalid_url: 'only a parser of URLs knows a host',
  budget_too_small: 'no limit is 0, and the smallest one is a millionth',
  comms_no_content: 'the text has several names, and one of them is enough',
  comms_to_itself: 'who sends it decides',
  workflows_bad_step: 'the mode of a step decides',
  workflows_cycle: 'the other steps decide',
  workflows_twice: 'the other steps decide',
  comms_no_target: 'the target has several names, and one of them is enough',
  mcp_bad_spec: 'which transport it is decides',
  mcp_no_sign_in: 'the entry of the server decides',
  media_invalid: 'one of two fields is enough',
  memory_empty: 'one of two fields is enough',
  pairing_too_many_codes: 'how many codes are waiting decides',
  schedules_bad_plan: 'the plan has several names, and one of them is enough',
  schedules_no_target: 'one of two fields is enough',
  webhooks_unsafe_url: 'only a parser of URLs knows a host',
  webhooks_unsupported: 'the interface has a mode for agents with a heartbeat',
  workflows_missing_parameter: 'each template has parameters of its own',
  workflows_two_values: 'several names of one field have one value',
  workflows_unknown_step: 'the other steps decide',
  providers_no_key: 'whether a key is stored decides',
  providers_no_key_needed: 'which provider it is decides',
  budget_agent_unknown: 'names of agents are free, and an id is a UUID',
  providers_bad_url: 'only a parser of URLs knows a host',
  approvals_totp_locked: 'wrong codes before it decide',
  models_unknown_provider: 'which providers there are decides',
  channels_bad_binding: 'a rule that is empty would hold for every message',
  channels_bad_fields: 'each channel has fields of its own: GET /api/channels/{name}',
  comms_two_values: 'two names of one field have one value',
  hands_nothing_to_install: 'one of two fields is enough',
  media_not_audio: 'the bytes decide what a recording is',
  media_unknown_provider: 'which providers there are decides',
  plugins_bad_runtime: 'runtimes have second names',
  plugins_no_dependencies: 'which files a plugin has decides',
  plugins_no_such_hook: 'which hooks a plugin has decides',
  skills_no_match: 'the text of a skill decides',
  skills_many_matches: 'the text of a skill decides',
  skills_no_change: 'the text of a skill decides',
  skills_bundled: 'which skills come with svc decides',
  skills_bad_path: 'which files a skill has decides',
  hands_unknown_setting: 'each hand has settings of its own: GET /api/hands/{hand_id}/settings',
  media_key_missing: 'which providers have a key decides',
  media_no_provider: 'which providers have a key decides',
  goals_no_agent: 'the goal decides',
  migrate_no_home: 'what stands in a folder decides',
  migrate_nothing_there: 'what stands in a folder decides',
  migrate_outside_roots: 'the settings decide',
  migrate_target_dir: 'svc has one home',
  migrate_unknown_source: 'a source is a kind or a folder',
  migrate_unreadable: 'what stands in a folder decides',
  oidc_attempt_over: 'a sign-in is one that was begun',
  oidc_bad_token: 'the provider decides',
  oidc_incomplete: 'the provider answers with a code or with an error',
  oidc_other_browser: 'the cookie decides',
  pairing_code_over: 'the interface has it as 410; a code is one that was asked for',
  pairing_no_code: 'the code has two names, and one of them is enough',
  plugins_bad_source: 'what stands at an address, or in a folder, decides',
  skills_bad_source: 'what stands at an address, or in a folder, decides',
  upload_type_unsupported: 'types of text are many',
  files_bad_content: 'another field says how it is encoded',
  hands_bad_manifest: 'a text of TOML, and what a hand needs',
  mcp_unknown_servers: 'which servers there are decides',
  skills_unknown_skills: 'which skills there are decides',
  schedules_fixed: 'the job decides',
  schedules_no_words: 'the message has several names, and one of them is enough',
  schedules_two_targets: 'two fields exclude each other',
  schedules_two_values: 'two names of one field have one value',
  clock_time_zone: 'the system knows which time zones there are',
  sessions_nothing_to_search: 'words are counted in all scripts',
  approvals_totp_invalid: 'the code changes every 30 seconds',
  approvals_totp_not_enrolled: 'the interface has it as 400, although it depends on the caller',
};

/** Run by schemathesis: its own checks, but for what cannot be said. */
const HOOKS = `
import json, os
import schemathesis
from hypothesis import strategies
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance
# A format of ours: five fields with a grammar of their own.
schemathesis.openapi.format("cron", strategies.sampled_from(["0 9 * * 1-5", "*/15 * * * *", "30 4 1,15 * *"]))
UNSAYABLE = set(json.loads(os.environ["UNSAYABLE"]))
def code_of(response):
    try:
        body = response.json()
    except ValueError:
        return None
    error = body.get("error") if isinstance(body, dict) else None
    # A2A over HTTP and JSON prescribes a form of its own.
    if isinstance(error, dict) and error.get("details"):
        return "a2a_" + str(error["details"][0].get("reason")).lower()
    return error.get("code") if isinstance(error, dict) else body.get("code") if isinstance(body, dict) else None
@schemathesis.check
def no_internal_error(ctx, response, case):
    # The interface has 500 for a provider that fails, also in a job, a step or a summary: the fuzzer chose one that nobody can reach.
    failed = ("llm_", "schedules_fire_failed", "webhooks_run_failed", "workflows_failed", "sessions_compaction_failed")
    assert response.status_code != 500 or str(code_of(response)).startswith(failed), "internal error"
@schemathesis.check
def unfitting_data_rejection(ctx, response, case):
    # Each agent of this list has an answer of its own.
    return None if case.path == "/api/agents/bulk" else negative_data_rejection(ctx, response, case)
@schemathesis.check
def fitting_data_acceptance(ctx, response, case):
    return None if code_of(response) in UNSAYABLE else positive_data_acceptance(ctx, response, case)
`;

/** What would end the daemon or an area of it, and streams that never end. */
const LEFT_OUT = [
  // It fetches from a registry, which may not be there: its 502 says so.
  '/api/extensions/install',
  '/api/extensions/{name}/upgrade',
  '/api/shutdown',
  '/api/logs/stream',
  '/api/comms/events/stream',
  '/api/agents/{id}/sessions/{session_id}/stream',
  '/api/extensions/{name}/enable',
  '/api/extensions/{name}/disable',
  '/api/extensions/{name}/reset',
  '/api/extensions/{name}/reload',
];

/** The document as this fuzzer reads it: to it the schema of an event stream is that of one event, and to us that of the list (3.1 has no word for it). Other tests hold events against their schemas. */
const forFuzzing = (document: unknown): string =>
  // Every request has the key, so that no schema needs to ask for it.
  JSON.stringify(document, (key, value) => (key === 'text/event-stream' ? {} : key === 'security' || key === 'securitySchemes' ? undefined : value));

const program = (): string | undefined => {
  const wanted = process.env.SCHEMATHESIS ?? 'schemathesis';
  try {
    execFileSync(wanted, ['--version'], { stdio: 'ignore' });
    return wanted;
  } catch {
    return undefined; // it is not on this machine
  }
};

interface Ran {
  readonly code: number;
  readonly reported: string;
}

const run = (command: string, args: readonly string[], cwd: string): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(
      command,
      args,
      { cwd, env: { ...process.env, SCHEMATHESIS_HOOKS: join(cwd, 'hooks.py'), UNSAYABLE: JSON.stringify(Object.keys(UNSAYABLE)) }, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code ?? 1), reported: stdout + stderr }),
    );
  });

/** `phases`: `examples` are those of the document, `coverage` the edges of each schema, `fuzzing` requests at random. */
export const describeFuzzer = (phases: ReadonlyArray<'examples' | 'coverage' | 'fuzzing'>): void => {
  describe(`a fuzzer that knows only openapi.json, by ${phases.join(' and ')}`, function () {
    this.timeout(2_400_000);
    let folder: string;
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'svc-fuzz-'));
    });
    after(async () => {
      await stopTestKernels();
      rmSync(folder, { recursive: true, force: true });
    });

    it('finds no 500, no undocumented status, no shape that differs, nothing refused that fits, and nothing taken that does not', async function () {
      const schemathesis = program();
      if (!schemathesis) {
        Object.assign(this.test ?? {}, { skipReason: 'no schemathesis here (SCHEMATHESIS names it)' });
        return this.skip();
      }
      const kernel = await bootTestKernel({ key: KEY, config: `api_key = "${KEY}"\n[extensions]\npreset = "full"\n${OPEN_RATE}` });
      const { body } = await kernel.http.expect(200, 'GET', '/api/agents');
      const agent = body.agents[0];
      // Half of what matters lies behind ids that are there.
      writeFileSync(
        join(folder, 'schemathesis.toml'),
        `[checks.positive_data_acceptance]\nexpected-statuses = ${JSON.stringify(ACCEPTED)}\n\n[checks.negative_data_rejection]\nexpected-statuses = ${JSON.stringify(REFUSED)}\n\n[[operations]]\ninclude-path-regex = "^/api/agents/[{]id[}]/."\nparameters = { "path.id" = "${agent.id}" }\n\n[[operations]]\ninclude-path-regex = "^/api/sessions/[{]id[}]"\nparameters = { "path.id" = "${agent.session_id}" }\n`,
      );
      writeFileSync(join(folder, 'hooks.py'), HOOKS);
      const document = join(folder, 'openapi.json');
      writeFileSync(document, forFuzzing((await kernel.http.expect(200, 'GET', '/api/openapi.json')).body));
      const { code, reported } = await run(
        schemathesis,
        [
          'run',
          document,
          ...['--url', kernel.url],
          ...['--header', `Authorization: Bearer ${KEY}`],
          ...[
            '--checks',
            CHECKS.join(','),
            '--max-examples',
            process.env.FUZZ_EXAMPLES ?? '4',
            '--seed',
            process.env.FUZZ_SEED ?? '1',
            '--request-timeout',
            '90',
            '--no-color',
            '--phases',
            phases.join(','),
          ],
          ...(process.env.FUZZ_ONLY === undefined ? [] : ['--include-path-regex', process.env.FUZZ_ONLY]),
          ...LEFT_OUT.flatMap((path) => ['--exclude-path', path]),
        ],
        folder,
      );
      expect(code, reported.slice(-100_000)).to.equal(0);
    });
  });
};
