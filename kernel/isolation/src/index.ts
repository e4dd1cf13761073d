/** @svc/isolation: the code of third parties in a process of its own. */
export { type RemoteExtension, type RemoteHost, remoteDefinition } from './broker/remote-definition.js';
export { isolationErrors } from './errors.js';
export { isolationFaults } from './isolation-faults.js';
export { proveIsolation } from './proof/prove.js';
export { createCrashRegistry, type CrashRegistry, TOO_MANY_CRASHES } from './supervisor/crash-registry.js';
export { type Isolation, launch, wallFault } from './supervisor/launch.js';
export { type ProcessLimits, Supervisor } from './supervisor/supervisor.js';
export { type Usage, usageOf } from './supervisor/usage.js';
