/** What a package of an extension is: which files, how it is packed, unpacked and signed. */
export { ARCHIVE_LIMITS, type ArchiveLimits, archivePathFault } from '@svc/api';
export { canonicalJson } from './canonical-json.js';
export { type Packed, packFolder } from './pack.js';
export { allFilesIn, digestOf, type FileHashes, hashFiles, isOfPackage, type PackageFile, packageFilesIn, REQUIRED_FILES, ROTATION_FILE, SIGNATURE_FILE } from './package-files.js';
export { type PackageContent, type PackageIdentity, readPackage } from './read-package.js';
export { unpack, type UnpackOptions } from './unpack.js';
