/** The generated part of the client is what the code declares, and the document it is made from is what a daemon says. */
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { apiDocument } from '../client/document.mjs';
import { generatedFiles, standing } from '../client/generated.mjs';

const MAKE = 'run `node tools/client.mjs` and commit what it writes';

describe('the generated part of the client', () => {
  afterEach(stopTestKernels);

  it('is up to date', async () => {
    const committed = Object.entries(await generatedFiles(await apiDocument())).filter(([file]) => file.endsWith('operations.ts'));
    expect(committed).to.have.length(1);
    for (const [file, text] of committed) expect(standing(file) === text, `${file} is stale: ${MAKE}`).to.equal(true);
  });

  it('is made from what a daemon of the full preset says of itself', async () => {
    const { http } = await bootTestKernel({ config: `[extensions]\npreset = "full"\n${OPEN_RATE}` });
    const { servers: _here, ...said } = (await http.expect(200, 'GET', '/api/openapi.json')).body;
    const { servers: _there, ...made } = JSON.parse(JSON.stringify(await apiDocument()));
    expect(made).to.deep.equal(said);
  });

  it('has one place for each parameter: no operation takes one name in path and query, or calls one "body"', async () => {
    const { paths } = JSON.parse(JSON.stringify(await apiDocument()));
    for (const item of Object.values<Record<string, { operationId: string; parameters?: Array<{ name: string; in: string }> }>>(paths))
      for (const { operationId, parameters = [] } of Object.values(item)) {
        const names = parameters.filter((one) => one.in !== 'header').map(({ name }) => name);
        expect(new Set(names).size, operationId).to.equal(names.length);
        expect(names, operationId).to.not.include('body');
      }
  });
});
