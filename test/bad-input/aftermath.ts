/** What must still hold after something went wrong: the daemon lives, and the session answers with nothing lost. */
import type { TestAnswer } from '@svc/testing';
import { expect } from 'chai';
import type { ModelKernel } from '../clients/model-kernel.js';
import { expectWellFormed } from '../conformance/route-walk.js';

const AFTER = 'and now the next message';

/** Every one of `earlier` must still stand in the session, in this order. */
export const expectGoesOn = async (svc: ModelKernel, earlier: readonly string[] = []): Promise<void> => {
  svc.model.script({ text: 'here I am' });
  expect((await svc.http.expect(200, 'GET', '/api/health')).body.status).to.equal('ok');
  const { body } = await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: AFTER });
  expect(body.response).to.equal('here I am');
  const { text } = await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`);
  let from = 0;
  for (const said of [...earlier, AFTER]) {
    const at = text.indexOf(said, from);
    expect(at, `"${said}" is lost from the session`).to.be.at.least(0);
    from = at + said.length;
  }
};

/** An error as a person needs it: what happened and what to do, nothing of the inside. */
export const expectClear = (answer: TestAnswer, status: number | readonly number[], says: RegExp, what = ''): void => {
  expect([status].flat(), `${what} ${answer.status} ${answer.text.slice(0, 300)}`).to.include(answer.status);
  expectWellFormed(answer, what);
  expect(`${answer.body.error} ${answer.body.hint ?? ''}`, what).to.match(says);
};
