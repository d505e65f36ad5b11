// @ts-check
/**
 * Checks the license of every package in package-lock.json and generates the lists in
 * docs/reference/security.md.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './project.mjs'

/** @typedef {{ license?: string, dev?: boolean, optional?: boolean, devOptional?: boolean }} Locked */

/**
 * Licenses allowed for packages that are distributed with the program. Each license is compatible
 * with the program's MIT license if its text is included.
 */
const forAll = ['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'PSF-2.0']

/**
 * Licenses allowed for packages that are not distributed, but used only for building, testing or
 * drawing.
 */
const forDevelopment = [...forAll, 'BlueOak-1.0.0', 'MPL-2.0', 'CC-BY-4.0', 'Python-2.0']

/** @param {string} path */
const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** @param {Readonly<Record<string, Locked>>} packages of package-lock.json */
function listed(packages) {
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, { license, dev, devOptional, optional }]) => {
      const name = nameOf(path)
      const licence = license ?? 'not stated'
      return { name, licence, isShipped: !(dev || devOptional || optional) }
    })
}

/**
 * Returns packages whose license is not accepted, each as `name: license`.
 * @param {Readonly<Record<string, Locked>>} packages
 */
export const unaccepted = (packages) =>
  listed(packages)
    .filter(({ licence, isShipped }) => {
      const accepted = isShipped ? forAll : forDevelopment
      const choices = licence.replace(/[()]/g, '').split(' OR ')
      return !choices.some((all) => all.split(' AND ').every((one) => accepted.includes(one)))
    })
    .map(({ name, licence }) => `${name}: ${licence}`)

/** @returns {Readonly<Record<string, Locked>>} */
export const lockedPackages = () =>
  JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages

/**
 * Returns the licenses with the packages under each license.
 * @param {boolean} shipped true for packages needed at run time, false for development packages
 */
export function licenceList(shipped) {
  /** @type {Map<string, Set<string>>} */
  const found = new Map()
  for (const { name, licence, isShipped } of listed(lockedPackages()))
    if (isShipped === shipped) found.set(licence, (found.get(licence) ?? new Set()).add(name))
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([licence, names]) => {
      const words = [...names].sort().map((name) => `\`${name}\``)
      return `- ${licence} (${names.size}): ${words.join(', ')}`
    })
    .join('\n')
}
