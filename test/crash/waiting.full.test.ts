/** A run that waits for approval, killed at every point from the question to the effect: one effect, or a clear end. */
import { randomUUID } from 'node:crypto';
import { describeOnEngines, type TestEngine } from '@svc/testing';
import { expect } from 'chai';
import { linesOf, readEffects } from './countable-tools.js';
import type { Watch } from './crash-points.js';
import { beginLife, createPlace, endLives, httpOf, type Place, until } from './daemon-life.js';
import { ensureAgent } from './entry-points.js';
import { answerTo, type Plan, type PlannedModel, planText, startPlannedModel } from './planned-model.js';
import { count } from './scenario.js';

const APPROVAL = '[approval]\nrequire_approval = ["count_*"]\n';
const SETTLED_MS = 30_000;
/** A call that is repeated after each death, and one that never is: where these differ, they die again. PostgreSQL dies where approvals write. */
const PLACES: Readonly<Record<TestEngine['name'], Readonly<Record<'keyed' | 'never', RegExp>>>> = {
  SQLite: { keyed: /approvals|journal|effect/, never: /effect/ },
  PostgreSQL: { keyed: /approvals|effect/, never: /effect/ },
};

describeOnEngines('a run that waits for approval, killed with SIGKILL', function (engine) {
  this.timeout(480_000);
  let model: PlannedModel;

  before(async () => {
    model = await startPlannedModel();
  });
  after(() => model.close());
  afterEach(endLives);

  const begin = async (place: Place, number: number) => {
    const life = beginLife(place, number);
    const url = await life.url;
    if (url === undefined) throw new Error((await life.gone).errors);
    return { life, http: httpOf(url), agent: await ensureAgent(url) };
  };
  type Http = ReturnType<typeof httpOf>;
  const approvals = async (http: Http) => (await http.expect(200, 'GET', '/api/approvals')).body.approvals as Array<{ id: string; status: string }>;
  const approveOpen = async (http: Http): Promise<void> => {
    for (const { id, status } of await approvals(http)) if (status === 'pending') await http.expect(200, 'POST', `/api/approvals/${id}/approve`, undefined);
  };
  /** The conversation about one message, as text: from its plan on. */
  const conversation = async (http: Http, agent: string, { mark }: Plan): Promise<string> => {
    const text = JSON.stringify((await http.get(`/api/agents/${agent}/session`)).body);
    return text.slice(text.indexOf(mark));
  };
  const isAnswered = async (http: Http, agent: string, plan: Plan) => (await conversation(http, agent, plan)).includes(answerTo(plan.mark));

  /** Asks, waits, approves, and is answered; or dies on the way. Gives the points that were passed before anybody approved. */
  const story = async ({ life, http, agent }: Awaited<ReturnType<typeof begin>>, plan: Plan, watch: Watch): Promise<number> => {
    await life.watch(watch);
    const told = (async () => {
      await http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: planText(plan) }, { 'idempotency-key': plan.mark });
      const waited = linesOf(watch.file).length;
      await approveOpen(http);
      await until(() => isAnswered(http, agent, plan), SETTLED_MS);
      return waited;
    })();
    const waited = await Promise.race([told.catch(() => -1), life.gone.then(() => -1)]);
    life.kill();
    await life.gone;
    return waited;
  };

  /** The next life: whoever still has to decide does, and the run comes to its end. */
  const liveAgain = async ({ http, agent }: Awaited<ReturnType<typeof begin>>, place: Place, plan: Plan, known: Set<string>): Promise<string> => {
    const done = await until(async () => {
      await approveOpen(http);
      return isAnswered(http, agent, plan);
    }, SETTLED_MS);
    const states = (await approvals(http)).filter(({ id }) => !known.has(id) && known.add(id)).map(({ status }) => status);
    const { keyed, never } = readEffects(place.effects);
    const effects = [...keyed, ...never].filter((mark) => mark === plan.rounds[0]?.[0]?.args.mark).length;
    const isUnknown = (await conversation(http, agent, plan)).includes('it is unknown whether it took effect');
    return `${done ? 'answered' : 'NOT ANSWERED'} ${states.join()} ${effects} ${isUnknown ? 'told unknown' : ''}`.trim();
  };

  for (const kind of ['keyed', 'never'] as const)
    it(`has ${kind === 'keyed' ? 'one effect' : 'one effect at most, and says what it does not know'}: count_${kind}`, async () => {
      const planned = (): Plan => ({ mark: `approved-${randomUUID()}`, rounds: [[count(kind)]] });
      const place = await createPlace(model.url, APPROVAL);
      const first = planned();
      const waited = await story(await begin(place, 1), first, { file: place.points(0) });
      // Of what is between question and effect; other commits are the story of full.test.ts.
      const reached = linesOf(place.points(0));
      const question = reached.findIndex((point) => /commit approvals: .*insert/.test(point));
      expect(question).to.be.within(0, waited);
      const points = reached.slice(question - 2).filter((point) => PLACES[engine.name][kind].test(point));
      expect(
        points.some((point) => point.includes('effect')),
        points.join('\n'),
      ).to.equal(true);
      const wrong: string[] = [];
      const known = new Set<string>();
      let number = 2;
      let next = await begin(place, number);
      expect(await liveAgain(next, place, first, known)).to.equal('answered approved 1');
      // Each life takes up what the death before has left, and dies at the next point.
      for (const point of points) {
        const plan = planned();
        await story(next, plan, { file: place.points(number), killAt: point });
        number += 1;
        next = await begin(place, number);
        const end = await liveAgain(next, place, plan, known);
        const isRight = end === 'answered approved 1' || (kind === 'never' && /^answered approved [01] told unknown$/.test(end));
        if (!isRight) wrong.push(`${point}: ${end}`);
      }
      next.life.kill();
      await next.life.gone;
      place.clean();
      expect(wrong).to.deep.equal([]);
      expect(model.faults).to.deep.equal([]);
    });
});
