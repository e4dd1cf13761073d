/** For mocha: the contract suite of the extension in the folder that it runs in. */
import { describeExtension } from './contract.js';

describeExtension(process.cwd());
