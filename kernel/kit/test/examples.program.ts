/** The page of examples, to look at: starts a daemon with it and prints the address. Ctrl+C ends it. */
import { bootTestKernel, fixtureArea, OPEN_RATE } from '@svc/testing';

const { installed } = await fixtureArea('examples');
const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["examples"]\n`, extra: [installed] });
console.log(`${kernel.url}/#/examples`);
process.once('SIGINT', () => void kernel.stop());
