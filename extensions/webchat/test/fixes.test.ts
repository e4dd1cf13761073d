/** What an answer that failed offers to press, and what the page says of it. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { fixOf, hintOnPage } from '../panels/chat/fixes.js';

const CODES = {
  llm_provider_key_missing: ['models', 'fix_key'],
  llm_provider_auth: ['models', 'fix_key'],
  llm_model_not_found: ['models', 'fix_model'],
  llm_provider_credit: ['models', 'fix_model'],
  budget_exceeded: ['usage', 'fix_limits'],
  token_quota_exceeded: ['usage', 'fix_limits'],
};

describe('an answer that failed', () => {
  it('leads to where a person can do something about it, by a code that there is', () => {
    const known = readFileSync('kernel/cli/reference/errors.md', 'utf8');
    for (const [code, [panel, label]] of Object.entries(CODES)) {
      expect(fixOf(code), code).to.include({ panel, label });
      expect(known, code).to.contain(`\`${code}\``);
    }
    expect(fixOf('llm_provider_timeout')).to.equal(undefined);
    expect(fixOf(undefined)).to.equal(undefined);
  });

  it('names no command and no path of the API on the page', () => {
    for (const hint of ['`svc vault status` shows how.', 'GET /api/models lists the catalog.', 'Set its key: svc providers set-key openai', 'PUT /api/providers/{name}/url changes it.'])
      expect(hintOnPage(hint), hint).to.equal(undefined);
    expect(hintOnPage('Begin a new session, or choose a model with a larger context window.')).to.match(/^Begin/);
  });
});
