/**
 * Prints a report as PDF in two passes.
 *
 * The first, draft pass determines each heading's page. The second pass adds these page numbers to
 * the table of contents. The creation date is the session's date, so the same session, browser, and
 * fonts yield the same bytes.
 */
import { placesInPdf, stablePdf, type PdfPrinter } from '../../adapters/print/chromium'
import type { ReportStage } from '../../contract/reports'
import { printPage, type PrintDocument } from './print-document'

export interface PdfTools {
  printPdf: PdfPrinter
  /** Called at the start of each stage. */
  onStage?: ((stage: ReportStage) => void) | undefined
}

/** Prints a report. `madeOn` is the ISO date of the report or the session. */
export async function printPdfReport(
  document: PrintDocument,
  madeOn: string,
  { printPdf, onStage }: PdfTools,
): Promise<Uint8Array> {
  onStage?.('layout')
  const pages = placesInPdf(await printPdf(printPage(document), { draft: true }))
  onStage?.('print')
  return stablePdf(await printPdf(printPage(document, pages)), new Date(madeOn))
}
