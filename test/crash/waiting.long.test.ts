/** A run that waits for approval, killed at every point from the question to the effect: one effect, or a clear end. */
import { describeOnEngines, type TestEngine } from '@svc/testing';
import { expect } from 'chai';
import { linesOf, readEffects } from './countable-tools.js';
import { beginLife, createPlace, endLives, httpOf, type Place, until } from './daemon-life.js';
import { ensureAgent } from './entry-points.js';
import { answerTo, type PlannedModel, planText, startPlannedModel } from './planned-model.js';
import { count } from './scenario.js';

const APPROVAL = '[approval]\nrequire_approval = ["count_*"]\n';
const SETTLED_MS = 30_000;
const MARK = 'approved';
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

  const begin = async (place: Place, number: number, crashAt?: string) => {
    const life = beginLife(place, number, crashAt);
    const url = await life.url;
    if (url === undefined) throw new Error((await life.gone).errors);
    return { life, http: httpOf(url), agent: await ensureAgent(url) };
  };
  const approvals = async (http: ReturnType<typeof httpOf>) => (await http.expect(200, 'GET', '/api/approvals')).body.approvals as Array<{ id: string; status: string }>;
  const approveOpen = async (http: ReturnType<typeof httpOf>): Promise<void> => {
    for (const { id, status } of await approvals(http)) if (status === 'pending') await http.expect(200, 'POST', `/api/approvals/${id}/approve`, undefined);
  };
  const isAnswered = async (http: ReturnType<typeof httpOf>, agent: string) => JSON.stringify((await http.get(`/api/agents/${agent}/session`)).body).includes(answerTo(MARK));

  /** Asks, waits, approves, and is answered; or dies on the way. Gives the points that were passed before anybody approved. */
  const story = async (place: Place, kind: 'keyed' | 'never', crashAt?: string): Promise<number> => {
    const { life, http, agent } = await begin(place, 1, crashAt);
    const told = (async () => {
      await http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: planText({ mark: MARK, rounds: [[count(kind)]] }) }, { 'idempotency-key': 'the-message' });
      const waited = linesOf(place.points(1)).length;
      await approveOpen(http);
      await until(() => isAnswered(http, agent), SETTLED_MS);
      return waited;
    })();
    const waited = await Promise.race([told.catch(() => -1), life.gone.then(() => -1)]);
    life.kill();
    await life.gone;
    return waited;
  };

  /** The next life: whoever still has to decide does, and the run comes to its end. */
  const liveAgain = async (place: Place): Promise<string> => {
    const { life, http, agent } = await begin(place, 2);
    const done = await until(async () => {
      await approveOpen(http);
      return isAnswered(http, agent);
    }, SETTLED_MS);
    const states = (await approvals(http)).map(({ status }) => status);
    const session = JSON.stringify((await http.get(`/api/agents/${agent}/session`)).body);
    life.kill();
    await life.gone;
    const { keyed, never } = readEffects(place.effects);
    return `${done ? 'answered' : 'NOT ANSWERED'} ${states.join()} ${keyed.length + never.length} ${session.includes('it is unknown whether it took effect') ? 'told unknown' : ''}`.trim();
  };

  for (const kind of ['keyed', 'never'] as const)
    it(`has ${kind === 'keyed' ? 'one effect' : 'one effect at most, and says what it does not know'}: count_${kind}`, async () => {
      const whole = await createPlace(model.url, APPROVAL);
      const waited = await story(whole, kind);
      // Of what is between question and effect; other commits are the story of full.test.ts.
      const points = linesOf(whole.points(1))
        .slice(Math.max(0, waited - 4))
        .filter((point) => PLACES[engine.name][kind].test(point));
      whole.clean();
      expect(waited).to.be.greaterThan(0);
      expect(
        points.some((point) => point.includes('effect')),
        points.join('\n'),
      ).to.equal(true);
      const wrong: string[] = [];
      for (const point of points) {
        const place = await createPlace(model.url, APPROVAL);
        await story(place, kind, point);
        const end = await liveAgain(place);
        const isRight = end === 'answered approved 1' || (kind === 'never' && /^answered approved [01] told unknown$/.test(end));
        if (!isRight) wrong.push(`${point}: ${end}`);
        place.clean();
      }
      expect(wrong).to.deep.equal([]);
      expect(model.faults).to.deep.equal([]);
    });
});
