/** How a process is kept apart by the operating system: the arguments of bubblewrap, and why it does not work where it does not. */
export { bubblewrapArguments, type SandboxPlan } from './bubblewrap.js';
export { type Bubblewrap, type BubblewrapFeatures, findBubblewrap } from './find-bubblewrap.js';
export { type Facts, faultOf, readFacts, type SandboxFault } from './faults.js';
export { type Bind, isWithin, nodeBinds, systemBinds } from './system-folders.js';
export { probeSandbox } from './probe.js';
