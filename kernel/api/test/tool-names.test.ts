import { toolNames } from '@svc/api';
import { expect } from 'chai';

describe('names of tools that come and go', () => {
  it('are kind, owner and tool in one form', async () => {
    expect(await toolNames('mcp', [{ owner: 'GitHub-EU', tool: 'create.Issue' }])).to.deep.equal(['mcp_github_eu_create_issue']);
  });

  it('TN1 are cut and end in a digest where they are too long or equal, each with its own', async () => {
    const long = 'a'.repeat(80);
    const names = await toolNames('mcp', [
      { owner: 'one', tool: long },
      { owner: 'one', tool: `${long}b` },
      { owner: 'a_b', tool: 'c' },
      { owner: 'a', tool: 'b_c' },
      { owner: 'a', tool: 'd' },
    ]);
    expect(names[2]).to.equal('mcp_a_b_c_02d7306b');
    expect(names.at(-1)).to.equal('mcp_a_d');
    for (const name of names) expect(name).to.match(/^[a-z0-9_]{1,64}$/);
    expect(new Set(names).size).to.equal(names.length);
    expect(names[0]).to.have.length(64);
  });
});
