"""Reports: one HTML file with the views and tables of an answer. The file needs no server."""

from lasthop.report.report import Report, Reported, report_of, write_report

__all__ = ["Report", "Reported", "report_of", "write_report"]
