/** What doctor, health and the security page hear of the vault. Each looks, none repairs, none sees a value. */
import { type DoctorFinding, textThatIsSet } from '@svc/api';
import { decodeMasterKey, MASTER_KEY_ENV } from './master-key.js';
import type { Vault } from './service.js';

const FIX_KEY = `head -c 32 /dev/urandom | base64   # 32 bytes for ${MASTER_KEY_ENV}`;

export const doctorFindings = async (vault: Vault, masterKeyText: string | undefined): Promise<DoctorFinding[]> => {
  const findings: DoctorFinding[] = [keyFinding(masterKeyText)];
  const status = await vault.status();
  if (status.why !== null)
    findings.push({
      check: 'VaultOpens',
      result: 'fail',
      message: `The vault is ${status.state}: ${status.why}.`,
      fix: 'Bring back its key, or restore vault.enc from a backup; where both are lost: svc vault reset',
    });
  return findings;
};

export const healthProbe = async (vault: Vault): Promise<{ name: string; status: 'ok' | 'warn' | 'error'; detail?: string }> => {
  const status = await vault.status();
  return status.why === null ? { name: 'vault', status: 'ok', detail: status.state } : { name: 'vault', status: 'error', detail: `${status.state}: ${status.why}` };
};

export const securityReport = async (vault: Vault): Promise<{ name: string; state: string; detail?: string }> => {
  const { state, secrets } = await vault.status();
  return { name: 'vault', state, detail: `AES-256-GCM, ${secrets} secrets` };
};

const keyFinding = (text: string | undefined): DoctorFinding => {
  const check = 'VaultKeyCheck';
  if (textThatIsSet(text) === undefined) return { check, result: 'pass', message: `${MASTER_KEY_ENV} is not set; the vault uses its own key file.` };
  const decoded = decodeMasterKey(text ?? '', MASTER_KEY_ENV);
  if (!Buffer.isBuffer(decoded)) return { check, result: 'fail', message: `${decoded.why}.`, fix: FIX_KEY };
  decoded.fill(0);
  return { check, result: 'pass', message: `${MASTER_KEY_ENV} decodes to 32 bytes.` };
};
