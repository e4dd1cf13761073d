/** Entries as sentences: every operation that is audited reads as one, in both languages of the page. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { chineseDeed, chineseSentence } from '../panels/audit/chinese.js';
import { sentenceOf } from '../src/format/sentence.js';

const auditedIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => (name === 'audit' && typeof inner === 'string' ? [inner] : auditedIn(inner)));
};

describe('entries of the audit trail as sentences', () => {
  it('say who did what, and what came of it', () => {
    const said = (type: string, actor: string | null = 'user:alice', outcome = 'ok'): string => sentenceOf({ type, actor, outcome });
    expect(said('agent_spawned')).to.equal('alice spawned an agent');
    expect(said('agent_budget_changed', 'owner')).to.equal('owner changed the budget of an agent');
    expect(said('session_deleted', 'owner', 'refused')).to.equal('owner deleted a conversation (refused)');
    expect(said('extension_rolled_back', 'system:repair')).to.equal('svc (repair) rolled back an extension');
    expect(said('tool_invoked', null)).to.equal('Somebody who was erased called a tool');
    expect(said('model_alias_created')).to.equal('alice created a model alias');
    expect(chineseSentence('agent_spawned', 'owner', 'failed')).to.equal('所有者创建了智能体（失败）');
    expect(chineseSentence('acme_thing_frobbed', 'owner', 'ok')).to.equal(undefined);
  });

  it('are there in both languages for every audited operation', () => {
    const types = new Set(
      readdirSync('extensions').flatMap((id) => {
        try {
          return auditedIn(JSON.parse(readFileSync(`extensions/${id}/contributions.json`, 'utf8')));
        } catch (error) {
          if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return [];
          throw error;
        }
      }),
    );
    expect(types.size).to.be.above(150);
    for (const type of types) {
      expect(chineseDeed(type), type).to.be.a('string');
      expect(sentenceOf({ type, actor: 'owner', outcome: 'ok' }), type).to.match(/^owner [a-z]+( up| down| back)? /);
    }
  });
});
