/** Files that were put with a message whose run dies: the model gets them again, as they were. */
import { randomUUID } from 'node:crypto';
import { TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { PNG, sendBody, sendForm } from '../../extensions/files/test/files-kit.js';
import { beginLife, createPlace, endLives } from './daemon-life.js';
import { ensureAgent } from './entry-points.js';
import { startPlannedModel } from './planned-model.js';

describe('an attachment of a run that the death of the daemon cut', () => {
  afterEach(endLives);

  it('is sent to the model again as it was', async () => {
    const model = await startPlannedModel();
    const place = await createPlace(model.url);
    try {
      const asked: string[] = [];
      const received = new Promise<void>((resolve) => {
        model.onRequest(({ body }) => {
          asked.push(JSON.stringify(body.messages));
          resolve();
          return asked.length === 1 ? { hang: true } : { text: 'seen at last' };
        });
      });
      const first = beginLife(place, 1);
      const url = (await first.url) ?? '';
      const agent = await ensureAgent(url);
      const http = new TestHttp(url);
      const mark = randomUUID();
      const picture = (await sendForm(http, agent, { bytes: PNG, type: 'image/png', name: 'dot.png' })).body.file_id;
      const notes = (await sendBody(http, agent, `notes ${mark}`, { 'content-type': 'text/plain' })).body.file_id;
      const message = { message: 'look', attachments: [{ file_id: picture }, { file_id: notes }] };
      const headers = { 'content-type': 'application/json', 'idempotency-key': mark };
      const cut = fetch(`${url}/api/agents/${agent}/message`, { method: 'POST', headers, body: JSON.stringify(message) }).catch(() => undefined);
      await received;
      first.kill();
      await Promise.all([first.gone, cut]);

      const again = (await beginLife(place, 2).url) ?? '';
      const answer = await fetch(`${again}/api/agents/${agent}/message`, { method: 'POST', headers, body: JSON.stringify(message) });
      expect(await answer.json()).to.include({ response: 'seen at last' });
      expect(asked).to.have.length(2);
      expect(asked[1]).to.equal(asked[0]);
      expect(asked[1]).to.contain(PNG.toString('base64')).and.contain(`notes ${mark}`);
    } finally {
      await endLives();
      place.clean();
      await model.close();
    }
  });
});
