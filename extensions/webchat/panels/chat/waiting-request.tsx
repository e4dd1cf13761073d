/** The request that a run waits for, by code that is loaded with the first one. */
import '@svc/ext-approvals/page.css';
import { failed, useEffect, useState } from '@svc/kit';

export const WaitingRequest = ({ id }: { id: string }) => {
  const [code, setCode] = useState<typeof import('@svc/ext-approvals/page')>();
  useEffect(() => void import('@svc/ext-approvals/page').then(setCode, failed), []);
  return code ? <code.WaitingFor id={id} /> : null;
};
